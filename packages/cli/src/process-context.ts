import type { Readable, Writable } from 'node:stream';

import type { RequestLogOptions } from '@open-presence/gateway';
import type { Logger } from 'pino';

/** The process, as far as commands may use it. */
export interface ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly nodeVersion: string;
  /** Threads in libuv's pool, if the environment says how many. */
  readonly fileThreads: number | undefined;
  /** How many listening sockets systemd has passed (`LISTEN_FDS` of sd_listen_fds(3)). */
  readonly passedSockets: number;
  /** Where programs keep the configuration of this user. */
  readonly configurationFolder: string;
  /** Where programs keep what they remember of what they did. */
  readonly stateFolder: string;
  /** Logs to standard output: JSON, or plain words on a terminal. */
  logger(level: string): Logger;
  /** Where the log of requests goes: to standard output too. */
  readonly requestLog: RequestLogOptions;
  /** Resolves with the name of the first SIGTERM or SIGINT. A second one ends the process. */
  stopSignal(): Promise<string>;
  /** The process exits with this code once it has nothing left to do. */
  setExitCode(code: number): void;
}
