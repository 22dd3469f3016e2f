/** Reads entries from the log's database, in the calling thread. */
import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { entryHead, entryId, type Kind, seqOfId, type Stamp } from '@open-presence/protocol';

import type { Entry, Order, Seq } from '../../../log/log.ts';
import { StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import type { DamageClient } from '../damage/damage-client.ts';
import { isSpoiled } from '../database.ts';
import { EntryVerifier } from './entry-verifier.ts';
import { isFileFault, largeChunks, largeFault } from './large-files.ts';

const EMPTY = new Uint8Array(0);

export class EntryReader {
  readonly #paths: DataPaths;
  readonly #log: DatabaseSync;
  readonly #damage: DamageClient;
  readonly #verifier: EntryVerifier;
  readonly #row: StatementSync;
  readonly #time: StatementSync;
  readonly #joiners = new Map<string, TextJoiner>();

  constructor(log: DatabaseSync, paths: DataPaths, damage: DamageClient) {
    this.#paths = paths;
    this.#log = log;
    this.#damage = damage;
    this.#verifier = new EntryVerifier(log, paths);
    this.#row = log.prepare(
      'SELECT seq, time, kind, room, size, large, text FROM entries WHERE seq = ?',
    );
    this.#time = log.prepare('SELECT time FROM entries WHERE seq = ?');
  }

  /** Undefined also where nothing of the entry can be read. A promise if its file has to be looked at. */
  entry(seq: Seq): Entry | Promise<Entry> | undefined {
    const row = this.#readable(seq, () => this.#row.get(seq));
    if (row === undefined) return undefined;
    const stamp = stampOf(row, row['text'] as Uint8Array);
    if (this.#damage.has(seq)) return unreadableEntry(stamp);
    const size = row['size'] as number;
    const text = row['text'] as Uint8Array;
    const large = row['large'] as string | null;
    if (large !== null) return this.#largeEntry({ stamp, size }, text, large);
    return {
      stamp,
      size,
      text,
      async *chunks(from = 0): AsyncGenerator<Uint8Array> {
        if (from < text.length) yield text.subarray(from);
      },
    };
  }

  /**
   * The same, verified by its link: an entry that is not what was stored is unreadable. The last bytes
   * of a large entry are given once all were verified.
   */
  async verifiedEntry(seq: Seq): Promise<Entry | undefined> {
    const found = await this.entry(seq);
    if (found === undefined || found.unreadable === true) return found;
    if (found.text === undefined) {
      const chunks = (from = 0): AsyncIterable<Uint8Array> =>
        from === 0 ? this.#verifiedChunks(found) : found.chunks(from);
      return { ...found, chunks };
    }
    const fault = await this.#verifier.fault(seq);
    if (fault === undefined) return found;
    this.#damage.report(seq, new StorageFault(fault));
    return await this.entry(seq);
  }

  /** The first chunk is the part of a large entry that is not in its file. */
  async *#verifiedChunks(entry: Entry): AsyncGenerator<Uint8Array> {
    const { size } = entry;
    const { seq } = entry.stamp;
    const hash = createHash('sha256');
    let isInRow = true;
    // Reused for each chunk, since garbage of this size would pile up.
    let memory: Buffer | undefined;
    let held: Uint8Array = EMPTY;
    for await (const chunk of entry.chunks()) {
      if (isInRow) yield chunk;
      else {
        hash.update(held);
        if (held.length > 0) yield held;
        if (memory === undefined || memory.length < chunk.length)
          memory = Buffer.allocUnsafeSlow(chunk.length);
        memory.set(chunk);
        held = memory.subarray(0, chunk.length);
      }
      isInRow = false;
    }
    hash.update(held.subarray(0, -1));
    const body = { digest: hash.digest(), size, framed: true };
    const fault = await this.#verifier.fault(seq, { body });
    if (fault !== undefined) {
      const error = new StorageFault(`Entry ${seq} ${fault}.`);
      this.#damage.report(seq, error);
      throw error;
    }
    yield held;
  }

  /** `text`: the bytes of the entry that are not in the file. */
  async #largeEntry(
    { stamp, size }: Pick<Entry, 'stamp' | 'size'>,
    text: Uint8Array,
    file: string,
  ): Promise<Entry> {
    const paths = this.#paths;
    const damage = this.#damage;
    const fault = await largeFault(paths, file, size - text.length);
    if (fault !== undefined) {
      damage.report(stamp.seq, fault);
      return unreadableEntry(stamp);
    }
    return {
      stamp,
      size,
      text: undefined,
      async *chunks(from = 0): AsyncGenerator<Uint8Array> {
        if (from < text.length) yield text.subarray(from);
        try {
          yield* largeChunks(paths, file, Math.max(0, from - text.length), size - text.length);
        } catch (error) {
          // The answer that has begun breaks off. The next ones mark the entry.
          if (isFileFault(error)) damage.report(stamp.seq, error);
          throw error;
        }
      },
    };
  }

  /** The result, or undefined where SQLite cannot read the page that the entry is in. */
  #readable<T>(seq: Seq, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      this.#damage.report(seq, error);
      return undefined;
    }
  }

  /** `seqs`: at least one, in this order. Undefined if some of them have to be read one by one. */
  joinTexts(seqs: readonly Seq[], order: Order, joiner: string): Uint8Array | undefined {
    if (this.#damage.size > 0 && seqs.some((seq) => this.#damage.has(seq))) return undefined;
    const key = `${order} ${joiner}`;
    let join = this.#joiners.get(key);
    if (join === undefined) {
      join = new TextJoiner(this.#log, order, joiner);
      this.#joiners.set(key, join);
    }
    try {
      const { text, hasLarge } = join.join(seqs);
      return hasLarge === 0 ? text : undefined;
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  /** The first seq with at least this time, `head` + 1 if there is none. */
  firstSince(time: number, head: Seq): Seq {
    // A binary search: times never decrease along seq.
    let low = 1;
    let high = head + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#timeFrom(middle, high) >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The time of the first entry that can be read, from `seq` up to before `end`. */
  #timeFrom(seq: Seq, end: Seq): number {
    for (let at = seq; at < end; at += 1) {
      const row = this.#readable(at, () => this.#time.get(at));
      if (row !== undefined) return row['time'] as number;
    }
    return Infinity;
  }
}

/** An entry of which only the gateway's members are known (PROTOCOL.md section 4.6). */
function unreadableEntry(stamp: Stamp): Entry {
  const isValid = seqOfId(stamp.id) === stamp.seq;
  const id = isValid ? stamp.id : entryId(stamp.time, stamp.seq, 0);
  const own = { ...stamp, id };
  const text = Buffer.from(`${entryHead(own)},"unreadable":true}`);
  return {
    stamp: own,
    size: text.length,
    text,
    unreadable: true,
    async *chunks(from = 0): AsyncGenerator<Uint8Array> {
      if (from < text.length) yield text.subarray(from);
    },
  };
}

/** `text` begins with `{"id":"` and the id. */
function stampOf(row: Record<string, unknown>, text: Uint8Array): Stamp {
  return {
    seq: row['seq'] as number,
    id: Buffer.from(text.buffer, text.byteOffset + 7, 36).toString('latin1'),
    kind: row['kind'] as Kind,
    room: row['room'] as string,
    time: row['time'] as number,
  };
}

export interface JoinedText {
  readonly text: Uint8Array;
  /** 1 if a large entry is among them, whose text is not complete here; null if there is none. */
  readonly hasLarge: 0 | 1 | null;
}

/** Joins the texts of many entries inside SQLite, which costs less than one call per entry. */
export class TextJoiner {
  readonly #contiguous: StatementSync;
  readonly #sparse: StatementSync;

  constructor(log: DatabaseSync, order: Order, joiner: string) {
    const direction = order === 'newest' ? 'DESC' : 'ASC';
    const prepare = (rows: string): StatementSync =>
      log.prepare(
        `SELECT CAST(group_concat(text, '${joiner}') AS BLOB) AS text,
           max(large IS NOT NULL) AS hasLarge FROM (${rows} LIMIT -1)`,
      );
    this.#contiguous = prepare(
      `SELECT text, large FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq ${direction}`,
    );
    this.#sparse = prepare(
      `SELECT e.text, e.large FROM json_each(?) AS j JOIN entries AS e ON e.seq = j.value
       ORDER BY j.key`,
    );
  }

  /** `seqs`: at least one, in the order that was given to the constructor. */
  join(seqs: readonly Seq[]): JoinedText {
    const [first = 0] = seqs;
    const last = seqs.at(-1) ?? first;
    const isContiguous = Math.abs(last - first) === seqs.length - 1;
    const row = isContiguous
      ? this.#contiguous.get(Math.min(first, last), Math.max(first, last))
      : this.#sparse.get(JSON.stringify(seqs));
    return row as unknown as JoinedText;
  }
}
