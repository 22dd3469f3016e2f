/**
 * An output that a service does not depend on: its log, its log of requests, its terminal.
 *
 * Upholds that a writer never waits and never gets an error, whatever happens to the reader or the disk;
 * that memory stays flat; and that lines arrive whole and in order. Keeps unwritten lines, up to
 * `MAX_PENDING` bytes. Drops further lines until the kept ones are written; then one line says how many
 * were dropped.
 */
import { close, constants, open, openSync, write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const MAX_PENDING = 1024 * 1024;
/** Pauses before a full pipe is tried again: each is twice the one before. */
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 1000;
/** How long `close` waits for a reader. */
const CLOSE_PATIENCE_MS = 1000;
const LINE_FEED = 0x0a;
/** Non-blocking, for a FIFO without a reader and a stopped terminal. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;
const LOG_MODE = 0o640;

const [openFile, closeFile] = [promisify(open), promisify(close)];

export interface ServiceOutputOptions {
  /** A descriptor whose writes do not block, or a file by its name. */
  readonly target: number | string;
  /** The line that says how many lines were dropped. */
  readonly describeDropped: (lines: number) => string;
  /** Called once when writing begins to fail; not if a reader is only slow. */
  readonly onFailing?: (error: Error) => void;
}

export class ServiceOutput {
  readonly #options: ServiceOutputOptions;
  #fd: number | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  #isInLine = false;
  #reopening = false;
  #isFailing = false;
  #writing: Promise<void> | undefined;

  constructor(options: ServiceOutputOptions) {
    this.#options = options;
  }

  /** `lines`: whole ones. */
  write(lines: string): void {
    const bytes = Buffer.from(lines);
    if (this.#dropped > 0 || this.#pendingBytes + bytes.length > MAX_PENDING)
      this.#dropped += lines.split('\n').length - 1;
    else this.#add(bytes);
    this.#writing ??= this.#writePending().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Opens a target that was given by its name again, before the next line. */
  reopen(): void {
    this.#reopening = typeof this.#options.target === 'string';
  }

  /** Resolves once everything is written, or after a second. Must be the last call. */
  async close(): Promise<void> {
    const patience = new AbortController();
    const late = sleep(CLOSE_PATIENCE_MS, undefined, { signal: patience.signal });
    await Promise.race([this.#writing, late]);
    patience.abort();
    await late.catch(() => {});
  }

  async #writePending(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (this.#pendingBytes > 0 || this.#dropped > 0) {
      try {
        await this.#writeSome();
        pause = FIRST_PAUSE_MS;
        this.#isFailing = false;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        this.#handle(error);
        await sleep(pause, undefined, { ref: false });
        pause = Math.min(2 * pause, LAST_PAUSE_MS);
      }
    }
  }

  async #writeSome(): Promise<void> {
    if (this.#reopening && !this.#isInLine) await this.#closeFile();
    const { target } = this.#options;
    this.#fd ??=
      typeof target === 'number'
        ? target
        : await openFile(target, FLAGS | constants.O_CREAT, LOG_MODE);
    if (this.#pendingBytes === 0) {
      this.#add(Buffer.from(this.#options.describeDropped(this.#dropped)));
      this.#dropped = 0;
    }
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [bytes];
    const written = await writeTo(this.#fd, bytes);
    this.#isInLine = bytes[written - 1] !== LINE_FEED;
    this.#remove(written);
  }

  #add(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  /** Removes the first bytes. */
  #remove(count: number): void {
    const [first = Buffer.alloc(0), ...later] = this.#pending;
    this.#pending = [first.subarray(count), ...later];
    this.#pendingBytes -= count;
  }

  async #closeFile(): Promise<void> {
    this.#reopening = false;
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) await closeFile(fd);
  }

  #handle(error: Error): void {
    if ('code' in error && error.code === 'EAGAIN') return;
    if (!this.#isFailing) this.#options.onFailing?.(error);
    this.#isFailing = true;
  }
}

function writeTo(fd: number, bytes: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)));
  return promise;
}

/**
 * Another descriptor of the terminal: writes to it do not block while the terminal is stopped. The same
 * descriptor if the terminal cannot be opened again. (Node makes pipes and sockets non-blocking itself.)
 */
export function nonBlocking(terminal: number): number {
  for (const path of [`/proc/self/fd/${terminal}`, '/dev/tty']) {
    try {
      return openSync(path, FLAGS);
    } catch {
      // This user may be allowed to open the next one.
    }
  }
  return terminal;
}
