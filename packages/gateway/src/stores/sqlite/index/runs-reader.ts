import { type FileHandle, open } from 'node:fs/promises';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { type Run, RUN_SIZE, runsFile } from './runs-writer.ts';

/** Usually a whole run: only its last entry exceeds `RUN_SIZE`. */
const CHUNK_SIZE = RUN_SIZE + 256 * 1024;
/** Pooled buffers: allocating and collecting them costs V8 more than reading the file. */
const MAX_POOLED = 4;

/** Reads runs of the files of all kinds. */
export class RunsReader {
  readonly #paths: DataPaths;
  readonly #newest: StatementSync;
  readonly #handles = new Map<Kind, Promise<FileHandle>>();
  readonly #pool: Buffer[] = [];

  constructor(db: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#newest = db.prepare(
      'SELECT first, last, count, position, length FROM runs WHERE kind = ? AND last <= ? ORDER BY last DESC LIMIT 16',
    );
  }

  /** Some of the runs of a kind that end at `last` or before, newest first. */
  newest(kind: Kind, last: Seq): readonly Run[] {
    return this.#newest.all(kind, last) as unknown as readonly Run[];
  }

  /** Fills the buffer from the file of a kind. */
  async fill(kind: Kind, position: number, buffer: Buffer): Promise<Buffer> {
    let handle = this.#handles.get(kind);
    if (handle === undefined) {
      handle = open(runsFile(this.#paths, kind));
      this.#handles.set(kind, handle);
      // The next read tries again.
      handle.catch(() => this.#handles.delete(kind));
    }
    const file = await handle;
    for (let at = 0; at < buffer.length;) {
      const { bytesRead } = await file.read(buffer, at, buffer.length - at, position + at);
      if (bytesRead === 0) throw new Error(`The file of runs of "${kind}" is too short.`);
      at += bytesRead;
    }
    return buffer;
  }

  /** A buffer of `CHUNK_SIZE` bytes. */
  acquire(): Buffer {
    return this.#pool.pop() ?? Buffer.allocUnsafeSlow(CHUNK_SIZE);
  }

  release(buffer: Buffer): void {
    if (this.#pool.length < MAX_POOLED) this.#pool.push(buffer);
  }

  async close(): Promise<void> {
    const handles = await Promise.allSettled(this.#handles.values());
    for (const result of handles) if (result.status === 'fulfilled') await result.value.close();
  }
}

/** Reads the runs of one kind in chunks, and reads one chunk ahead. */
export class RunCursor implements AsyncDisposable {
  readonly #runs: RunsReader;
  readonly #kind: Kind;
  /** Consecutive runs, newest first. */
  #loaded: readonly Run[] = [];
  #buffers: readonly [Buffer, Buffer] | undefined;
  #nextBuffer: 0 | 1 = 0;
  #ahead: { readonly position: number; readonly bytes: Promise<Buffer> } | undefined;

  constructor(runs: RunsReader, kind: Kind) {
    this.#runs = runs;
    this.#kind = kind;
  }

  /**
   * The newest run within the seqs from `first` to `last`, if it has at most `limit` entries.
   * `last` must decrease from call to call.
   */
  find(first: Seq, last: Seq, limit: number): Run | undefined {
    let run = this.#loaded.find((loaded) => loaded.last <= last);
    if (run === undefined) {
      this.#loaded = this.#runs.newest(this.#kind, last);
      [run] = this.#loaded;
    }
    return run !== undefined && run.first >= first && run.count <= limit ? run : undefined;
  }

  /** The text of a run; reads `following` ahead. A chunk is overwritten once the next is returned. */
  async *chunks(run: Run, following: Run | undefined): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < run.length; at += CHUNK_SIZE) {
      const position = run.position + at;
      // A useless read-ahead must finish before its buffer is used for another read.
      if (this.#ahead?.position !== position) await this.#ahead?.bytes.catch(() => {});
      const read = this.#ahead?.position === position ? this.#ahead : this.#startRead(run, at);
      const bytes = await read.bytes;
      this.#ahead = undefined;
      if (at + CHUNK_SIZE < run.length) this.#ahead = this.#startRead(run, at + CHUNK_SIZE);
      else if (following !== undefined) this.#ahead = this.#startRead(following, 0);
      yield bytes;
    }
  }

  /** Must be called when no chunk is used any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ahead?.bytes.catch(() => {});
    for (const buffer of this.#buffers ?? []) this.#runs.release(buffer);
    this.#buffers = undefined;
  }

  #startRead(run: Run, at: number): { readonly position: number; readonly bytes: Promise<Buffer> } {
    this.#buffers ??= [this.#runs.acquire(), this.#runs.acquire()];
    this.#nextBuffer = this.#nextBuffer === 0 ? 1 : 0;
    const buffer = this.#buffers[this.#nextBuffer].subarray(
      0,
      Math.min(CHUNK_SIZE, run.length - at),
    );
    const position = run.position + at;
    const bytes = this.#runs.fill(this.#kind, position, buffer);
    // An error reaches whoever awaits the bytes. If nobody does, it must not end the process.
    bytes.catch(() => {});
    return { position, bytes };
  }
}
