import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SharedState } from '../shared-state.ts';
import type { IndexConnection } from './index-connection.ts';
import { isPossible, MAX_RUN_SIZE, type Run, runsFile, runSum } from './runs-writer.ts';

/** Pooled buffers: allocating and collecting them costs V8 more than reading the file. */
const MAX_POOLED = 16;

/** Maximum number of runs of a kind that are remembered as checked. */
const MAX_CHECKED = 4096;

const NEWEST = `SELECT first, last, count, position, length, sum FROM runs
  WHERE kind = ? AND last <= ? ORDER BY last DESC LIMIT 16`;

/** Reads runs of the files of all kinds. */
export class RunsReader {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #index: IndexConnection;
  /** Runs that were checked, as long as their file is not written to: that takes half a millisecond each. */
  readonly #checked = new Map<Kind, { readonly state: string; readonly runs: Set<string> }>();
  #generation = 0;
  readonly #handles = new Map<Kind, Promise<FileHandle>>();
  readonly #pool: Buffer[] = [];

  constructor(index: IndexConnection, paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
    this.#index = index;
  }

  /** Some of the runs of a kind that end at `last` or before, newest first. */
  newest(kind: Kind, last: Seq): readonly Run[] {
    this.#updateChecked(kind);
    const runs = this.#index.read(NEWEST, (newest) => newest.all(kind, last));
    return (runs ?? []) as unknown as readonly Run[];
  }

  /** Whether the bytes are those that were written. */
  holds(kind: Kind, run: Run, bytes: Uint8Array): boolean {
    const key = Object.values(run).join(' ');
    const checked = this.#checked.get(kind)?.runs;
    if (checked?.has(key) === true) return true;
    if (runSum(kind, run, bytes) !== run.sum) return false;
    if (checked !== undefined && checked.size >= MAX_CHECKED) checked.clear();
    checked?.add(key);
    return true;
  }

  /** Forgets which runs were checked if their file has been written to since. */
  #updateChecked(kind: Kind): void {
    const stat = statSync(runsFile(this.#paths, kind), { throwIfNoEntry: false });
    const state = `${stat?.ino} ${stat?.ctimeMs}`;
    if (this.#checked.get(kind)?.state !== state)
      this.#checked.set(kind, { state, runs: new Set() });
  }

  /** Has the run written again. */
  reportSpoiled({ last }: Run): void {
    this.#shared.spoiledRun = last;
  }

  /** Fills the buffer from the file of a kind. */
  async fill(kind: Kind, position: number, buffer: Buffer): Promise<Buffer> {
    if (this.#generation !== this.#index.generation) {
      // The files were replaced with the index.
      this.#generation = this.#index.generation;
      void this.close();
    }
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
      if (bytesRead === 0) throw new StorageFault(`The file of runs of "${kind}" is too short.`);
      at += bytesRead;
    }
    return buffer;
  }

  /** A buffer for any run. */
  acquire(): Buffer {
    return this.#pool.pop() ?? Buffer.allocUnsafeSlow(MAX_RUN_SIZE);
  }

  release(buffer: Buffer): void {
    if (this.#pool.length < MAX_POOLED) this.#pool.push(buffer);
  }

  async close(): Promise<void> {
    const opened = [...this.#handles.values()];
    this.#handles.clear();
    const handles = await Promise.allSettled(opened);
    for (const result of handles) if (result.status === 'fulfilled') await result.value.close();
  }
}

interface ReadAhead {
  readonly run: Run;
  readonly bytes: Promise<Buffer>;
}

/** Reads the runs of one kind, and reads one run ahead. */
export class RunCursor implements AsyncDisposable {
  readonly #runs: RunsReader;
  readonly #kind: Kind;
  /** Consecutive runs, newest first. */
  #loaded: readonly Run[] = [];
  #buffers: readonly [Buffer, Buffer] | undefined;
  #nextBuffer: 0 | 1 = 0;
  #ahead: ReadAhead | undefined;

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
    if (run === undefined || !isPossible(run)) return undefined;
    return run.first >= first && run.count <= limit ? run : undefined;
  }

  /**
   * The text of a run, while `following` is read ahead; undefined where it cannot be read, or is not
   * what was written. It is overwritten by the one after the next.
   */
  async read(run: Run, following: Run | undefined): Promise<Uint8Array | undefined> {
    // A useless read-ahead must finish before its buffer is used for another read.
    if (this.#ahead?.run.position !== run.position) await this.#ahead?.bytes.catch(() => {});
    const ahead = this.#ahead?.run.position === run.position ? this.#ahead : this.#startRead(run);
    this.#ahead = undefined;
    const bytes = await ahead.bytes.catch((error: unknown) => {
      assertStorageFault(error);
      return undefined;
    });
    const holds = bytes !== undefined && this.#runs.holds(this.#kind, run, bytes);
    if (!holds) this.#runs.reportSpoiled(run);
    else if (following !== undefined) this.#ahead = this.#startRead(following);
    return holds ? bytes : undefined;
  }

  /** Must be called when no chunk is used any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ahead?.bytes.catch(() => {});
    for (const buffer of this.#buffers ?? []) this.#runs.release(buffer);
    this.#buffers = undefined;
  }

  #startRead(run: Run): ReadAhead {
    this.#buffers ??= [this.#runs.acquire(), this.#runs.acquire()];
    this.#nextBuffer = this.#nextBuffer === 0 ? 1 : 0;
    const buffer = this.#buffers[this.#nextBuffer].subarray(0, run.length);
    const bytes = this.#runs.fill(this.#kind, run.position, buffer);
    // An error reaches whoever awaits the bytes. If nobody does, it must not end the process.
    bytes.catch(() => {});
    return { run, bytes };
  }
}
