import type { Readable, Writable } from 'node:stream';

import type { Logger } from 'pino';

/** The process, as far as commands may use it. */
export interface ProcessContext {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Threads in libuv's pool, if the environment says how many. */
  readonly fileThreads: number | undefined;
  /** Logs to standard output: JSON, or plain words on a terminal. */
  logger(level: string): Logger;
  /** Resolves with the name of the first SIGTERM or SIGINT. A second one ends the process. */
  stopSignal(): Promise<string>;
  /** The process exits with this code once it has nothing left to do. */
  setExitCode(code: number): void;
}
