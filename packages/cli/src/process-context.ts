import type { Readable, Writable } from 'node:stream';

import type { RequestLogOptions } from '@open-presence/gateway';
import type { Logger } from 'pino';

import type { ServiceManager } from './serve/service-manager.ts';

export interface TextOutput {
  /** `text`: whole lines. */
  write(text: string): void;
}

/** The process, as far as commands may use it. */
export interface ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** The names of the variables of the environment. */
  readonly variables: readonly string[];
  readonly nodeVersion: string;
  /** The version of the command. */
  readonly version: string;
  /** Threads in libuv's pool, if the environment says how many. */
  readonly fileThreads: number | undefined;
  /** How many listening sockets systemd has passed (`LISTEN_FDS` of sd_listen_fds(3)). */
  readonly passedSockets: number;
  /** The folder in which programs keep this user's configuration. */
  readonly configurationFolder: string;
  /** Logs to standard output: JSON, or plain words on a terminal. */
  logger(level: string): Promise<Logger>;
  /** The output of a service: its writers never wait, and lines that cannot be written are dropped. */
  serviceOutput(stream: 'stdout' | 'stderr'): TextOutput;
  /** The log of requests: in this file or, without one, on standard output. */
  requestLog(file: string | undefined, logger: Logger): RequestLogOptions;
  /**
   * Resolves with the name of the first SIGTERM or SIGINT; a second one ends the process. From the call
   * on, SIGUSR2 does nothing. With `onReload`, SIGHUP opens log files again and calls it; otherwise it is as
   * SIGTERM on a terminal.
   */
  stopSignal(onReload?: () => void): Promise<string>;
  /** The program that started the process and watches it. */
  serviceManager(): ServiceManager;
  /** The process exits with this code once it has nothing left to do. */
  setExitCode(code: number): void;
  /** Ends the process once its output is written, whatever is under way. */
  exit(): void;
}
