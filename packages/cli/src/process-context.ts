import type { Readable, Writable } from 'node:stream';

import type { RequestLogOptions } from '@open-presence/gateway';
import type { Logger } from 'pino';

import type { ServiceManager } from './serve/service-manager.ts';

export interface TextOutput {
  /** Whole lines. */
  write(text: string): void;
}

/** The process, as far as commands may use it. */
export interface ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly nodeVersion: string;
  /** Of the command. */
  readonly version: string;
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
  /** For what a service says: its writers never wait, and lines that cannot be written are dropped. */
  serviceOutput(stream: 'stdout' | 'stderr'): TextOutput;
  /** Where the log of requests goes: to this file, or to standard output too. */
  requestLog(file: string | undefined, logger: Logger): RequestLogOptions;
  /**
   * For a service. Resolves with the name of the first SIGTERM or SIGINT; a second one ends the
   * process. SIGHUP opens log files again and calls `onReload`, SIGUSR2 does nothing.
   */
  stopSignal(onReload?: () => void): Promise<string>;
  /** The program that started the process and watches it. */
  serviceManager(): ServiceManager;
  /** The process exits with this code once it has nothing left to do. */
  setExitCode(code: number): void;
}
