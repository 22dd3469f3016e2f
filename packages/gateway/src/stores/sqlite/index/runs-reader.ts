import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import type { Kind } from '@open-presence/protocol';

import type { Seq, StoredEncoding, StoredText } from '../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SharedState } from '../shared-state.ts';
import type { IndexConnection } from './index-connection.ts';
import { ENCODED_JOINERS } from './runs-encoder.ts';
import {
  bytesHold,
  encodedBytes,
  type EncodedRun,
  isPossible,
  isReadable,
  MAX_RUN_SIZE,
  plainBytes,
  type Run,
  RUN_JOINER,
  type RunBytes,
} from './runs-files.ts';

/** Pooled buffers for verifying runs: allocating and collecting them costs more than reading the file. */
const MAX_POOLED = 4;

/** Maximum number of runs of a file that are remembered as checked. */
const MAX_CHECKED = 4096;

const NEWEST = `SELECT first, last, count, position, length, sum FROM runs
  WHERE kind = ? AND last <= ? ORDER BY last DESC LIMIT 16`;

const ENCODED = 'SELECT * FROM encoded_runs WHERE kind = ? AND encoding = ? AND last = ?';

/** Reads runs of the files of all kinds. */
export class RunsReader {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #index: IndexConnection;
  /** Runs that were checked, as long as their file is not written to: that takes half a millisecond each. */
  readonly #checked = new Map<string, { readonly state: string; readonly runs: Set<string> }>();
  #generation = 0;
  readonly #handles = new Map<string, Promise<FileHandle>>();
  readonly #pool: Buffer[] = [];

  constructor(index: IndexConnection, paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
    this.#index = index;
  }

  /** Some of the runs of a kind that end at `last` or before, newest first. */
  newest(kind: Kind, last: Seq): readonly Run[] {
    const runs = this.#index.read(NEWEST, (newest) => newest.all(kind, last));
    return (runs ?? []) as unknown as readonly Run[];
  }

  /** The text of a run, with a joiner before it or without one. Undefined where it is not what was written. */
  async plain(
    kind: Kind,
    run: Run,
    isJoined: boolean,
  ): Promise<Omit<StoredText, 'end'> | undefined> {
    const bytes = plainBytes(this.#paths, kind, run);
    const text = this.#text(bytes, isJoined ? 0 : RUN_JOINER.length);
    if (await this.#holds(bytes)) return text;
    // Has it written again.
    this.#shared.spoiledRun = run.last;
    return undefined;
  }

  /** The same, compressed. Undefined where it is not there. */
  async encoded(
    run: Run,
    form: { readonly kind: Kind; readonly encoding: StoredEncoding },
    isJoined: boolean,
  ): Promise<Omit<StoredText, 'end'> | undefined> {
    const { kind, encoding } = form;
    const row = this.#index.read(ENCODED, (find) => find.all(kind, encoding, run.last));
    const [encoded] = (row ?? []) as unknown as readonly EncodedRun[];
    if (encoded === undefined) {
      this.#shared.wantEncoding(encoding);
      return undefined;
    }
    const bytes = encodedBytes(this.#paths, encoded);
    const text = this.#text(bytes, isJoined ? 0 : ENCODED_JOINERS[encoding].length);
    if (encoded.size !== run.length - RUN_JOINER.length || !(await this.#holds(bytes))) {
      this.#shared.spoiledRun = run.last;
      return undefined;
    }
    const { size, crc, joinedCrc } = encoded;
    const compressed = isJoined ? { size: run.length, crc: joinedCrc } : { size, crc };
    return { ...text, compressed };
  }

  /** To be called before the bytes are verified. */
  #text(run: RunBytes, skipped: number): Omit<StoredText, 'end'> {
    const version = this.#version;
    const verify = async (): Promise<void> => {
      if (!(await this.#holds(run)))
        throw new StorageFault('A run of entries has changed while it was read.');
    };
    return {
      length: run.length - skipped,
      read: async (target, from) => {
        await this.#fill(run, target, skipped + from);
        if (version !== this.#version) await verify();
      },
      verify,
    };
  }

  /** With another one, bytes that were verified may have been overwritten. */
  get #version(): string {
    return `${this.#index.generation} ${this.#shared.runsVersion}`;
  }

  /** Whether the bytes are those that were written. */
  async #holds(run: RunBytes): Promise<boolean> {
    if (!isReadable(run)) return false;
    const key = `${run.row} ${run.length} ${run.sum}`;
    const checked = this.#checkedOf(run.file);
    if (checked.has(key)) return true;
    const memory = this.#pool.pop() ?? Buffer.allocUnsafeSlow(MAX_RUN_SIZE);
    try {
      const bytes = memory.subarray(0, run.length);
      await this.#fill(run, bytes, 0);
      if (!bytesHold(run, bytes)) return false;
    } catch (error) {
      assertStorageFault(error);
      return false;
    } finally {
      if (this.#pool.length < MAX_POOLED) this.#pool.push(memory);
    }
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.add(key);
    return true;
  }

  /** The runs of a file that were checked since it was written to. */
  #checkedOf(file: string): Set<string> {
    const stat = statSync(file, { throwIfNoEntry: false });
    const state = `${stat?.ino} ${stat?.ctimeMs} ${this.#version}`;
    const checked = this.#checked.get(file);
    if (checked?.state === state) return checked.runs;
    const runs = new Set<string>();
    this.#checked.set(file, { state, runs });
    return runs;
  }

  async #fill(
    { file, position, length }: RunBytes,
    target: Uint8Array,
    from: number,
  ): Promise<void> {
    const handle = await this.#handle(file);
    if (from + target.length > length) throw new RangeError('A run is shorter than what is read');
    for (let at = 0; at < target.length;) {
      const { bytesRead } = await handle.read(target, at, target.length - at, position + from + at);
      if (bytesRead === 0) throw new StorageFault(`${file} is too short.`);
      at += bytesRead;
    }
  }

  #handle(file: string): Promise<FileHandle> {
    if (this.#generation !== this.#index.generation) {
      // The files were replaced with the index.
      this.#generation = this.#index.generation;
      void this.close();
    }
    let handle = this.#handles.get(file);
    if (handle === undefined) {
      handle = open(file);
      this.#handles.set(file, handle);
      // The next read tries again.
      handle.catch(() => this.#handles.delete(file));
    }
    return handle;
  }

  async close(): Promise<void> {
    const opened = [...this.#handles.values()];
    this.#handles.clear();
    // Nothing was written: what a failed close says is of no use.
    await Promise.allSettled(opened.map(async (handle) => (await handle).close()));
  }
}

/** Finds the runs of one kind, one after another. */
export class RunCursor {
  readonly #runs: RunsReader;
  readonly #kind: Kind;
  readonly #encoding: StoredEncoding | undefined;
  /** Consecutive runs, newest first. */
  #loaded: readonly Run[] = [];

  /** `encoding`: that in which texts are read where they are stored in it. */
  constructor(runs: RunsReader, kind: Kind, encoding: StoredEncoding | undefined) {
    this.#runs = runs;
    this.#kind = kind;
    this.#encoding = encoding;
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

  /** The text of a run, with a joiner before it or without one; undefined where it is not what was written. */
  async read(run: Run, isJoined: boolean): Promise<Omit<StoredText, 'end'> | undefined> {
    const [kind, encoding] = [this.#kind, this.#encoding];
    const encoded = encoding && (await this.#runs.encoded(run, { kind, encoding }, isJoined));
    return encoded ?? (await this.#runs.plain(kind, run, isJoined));
  }
}
