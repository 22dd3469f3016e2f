import type { DatabaseSync } from 'node:sqlite';

import { KINDS } from '@open-presence/protocol';

import { portableText } from '../../json/portable-entry.ts';
import type { Seq } from '../../log/log.ts';
import { isSpoiled, readable, Spoiled } from '../database.ts';
import { AnsweredEntries } from './answered-entries.ts';
import {
  dataSize,
  HAS_KEY,
  hasFile,
  hasForm,
  isLargeName,
  KEY_PREFIX,
  KEY_PREFIX_SIZE,
  LINK_SIZE,
  type LargeFile,
  PLAIN,
  type RowFields,
  metadataOf,
  EntryRow,
} from './entry-row.ts';
import { WithheldSeqs } from '../withholding/withheld-seqs.ts';
import { type WithheldLookup, withheldLookup } from '../withholding/withheld-table.ts';

export interface SeqSpan {
  readonly from: Seq;
  readonly to: Seq;
}

/** An entry that exists but cannot be read. */
export interface SpoiledRow {
  readonly seq: Seq;
  readonly error: Error;
}

interface RoomOfPart extends Pick<EntryRow, 'kind' | 'room'> {
  readonly part: number;
  readonly count: number;
}

/** About how many bytes are read at once, and how many entries at first and at most. */
const WINDOW_SIZE = 256 * 1024;
const FIRST_WINDOW = 64;
const MAX_WINDOW = 1024;

// One string and one blob for all rows: an object for each would cost several times as much. `LIMIT -1` keeps
// SQLite from reordering the rows.
const ROWS = `SELECT group_concat(fields) AS fields, CAST(group_concat(data, '') AS BLOB) AS data FROM (
  SELECT concat_ws(',', seq, CAST(time AS INTEGER), CAST(kind AS INTEGER), CAST(flags AS INTEGER),
      ifnull(octet_length(key), 0), octet_length(room), octet_length(facets), octet_length(text)) AS fields,
    concat(link, salt, sum, key, room, facets, text) AS data
  FROM`;
const FORM =
  'octet_length(link) = 32 AND octet_length(salt) = 16 AND octet_length(sum) = 4 LIMIT -1)';
// A text that has lost its begin or its end would spoil those beside it.
const TEXTS = `SELECT CAST(group_concat(text, ?3) AS BLOB) AS joined, sum(flags = ${PLAIN}
    AND substr(text, 1, 1) = x'7b' AND substr(text, -1) = x'7d') AS count
  FROM (SELECT flags, text FROM`;
const SPAN = 'entries WHERE seq BETWEEN ?1 AND ?2';
const LISTED = '(SELECT value FROM json_each(?1)) CROSS JOIN entries ON seq = value';

/** A row as it was read, before anything of it is known to be right. */
interface FoundRow {
  readonly fields: RowFields;
  readonly data: Buffer;
}

export class RowReader {
  readonly answered: AnsweredEntries;
  readonly withheld: WithheldSeqs;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #caseOf: WithheldLookup;

  constructor(log: DatabaseSync) {
    this.answered = new AnsweredEntries(log);
    this.withheld = new WithheldSeqs(log);
    this.#sql = statementsOf(log);
    this.#caseOf = withheldLookup(log);
  }

  /** Undefined if the log has no such entry. Throws if it cannot be read (see `isSpoiled`). */
  entry(seq: Seq): EntryRow | undefined {
    return readable(() => this.#entry(seq)) ?? this.#entry(seq);
  }

  /** The same as its row has it, although it may be withheld. */
  stored(seq: Seq): EntryRow | undefined {
    const [found] = foundIn(this.#sql.span.get(seq, seq));
    if (found !== undefined) return this.#storedOf(found);
    if (this.#sql.exists.get(seq) === undefined) return undefined;
    throw new Spoiled(`Entry ${seq} cannot be read: its row has lost its form.`);
  }

  /** The same; throws `Spoiled` where what the visitor said is erased already. */
  unerased(seq: Seq): EntryRow | undefined {
    const stored = this.stored(seq);
    if (stored?.isErased !== true) return stored;
    throw new Spoiled(`Entry ${seq} cannot be read: it is erased.`);
  }

  /** The newest entry. Throws where it cannot be read. */
  last(): EntryRow | undefined {
    return this.entry(this.lastSeq());
  }

  /** The seq of the newest entry; 0 if there is none. */
  lastSeq(): Seq {
    return Number(this.#sql.lastSeq.get()?.['seq'] ?? 0);
  }

  /** In hex; undefined if the log has no such entry. Throws where it cannot be read. */
  linkAt(seq: Seq): string | undefined {
    return this.linkOf(seq)?.toString('hex');
  }

  /** The same as bytes. */
  linkOf(seq: Seq): Buffer | undefined {
    const link = this.#sql.link.get(seq)?.['link'];
    if (link === undefined) return undefined;
    if (link instanceof Uint8Array && link.length === LINK_SIZE) return bufferOf(link);
    throw new Spoiled(`The link of entry ${seq} cannot be read.`);
  }

  /** The entries whose idempotency key may be this one (its SHA-256), the oldest first. */
  seqsOfKey(key: Uint8Array): Seq[] {
    return this.#sql.keyed.all(key.subarray(0, KEY_PREFIX_SIZE)).map(({ seq }) => Number(seq));
  }

  hasLarge(name: string): boolean {
    return this.#sql.hasFile.get(name) !== undefined;
  }

  /** Ascending. Leaves out what cannot be read. */
  *rows(span: SeqSpan): Generator<EntryRow, void, undefined> {
    for (const row of this.rowsAndSpoiled(span)) if (!('error' in row)) yield row;
  }

  /** Ascending. Between two rows, the caller may change the log. */
  *rowsAndSpoiled({ from, to }: SeqSpan): Generator<EntryRow | SpoiledRow, void, undefined> {
    let count = FIRST_WINDOW;
    for (let at = from; at <= to;) {
      const end = Math.min(to, at + count - 1);
      const found = readable(() => {
        this.withheld.follow();
        return foundIn(this.#sql.span.get(at, end));
      });
      let size = found === undefined ? WINDOW_SIZE : 1;
      for (const row of found ?? []) {
        for (; at < row.fields.seq; at += 1) yield* this.#single(at);
        size += row.data.length;
        const read = rowOrSpoiled(at, () => this.#asFound(row) ?? this.#entry(at));
        if (read !== undefined) yield read;
        at += 1;
      }
      for (; at <= end; at += 1) yield* this.#single(at);
      const fitting = Math.floor((count * WINDOW_SIZE) / size);
      count = Math.max(1, Math.min(MAX_WINDOW, fitting));
    }
  }

  /** Portable texts, in the order of `seqs` (at least one). Undefined if they must be read one by one. */
  joinTexts(seqs: readonly Seq[], joiner: string): Buffer | undefined {
    const areShown = readable(() => !this.withheld.hasAny(seqs)) === true;
    const joined = areShown ? this.#joinShown(seqs, joiner) : undefined;
    return joined ?? this.#joinListed(seqs, joiner);
  }

  #joinShown(seqs: readonly Seq[], joiner: string): Buffer | undefined {
    const [first = 0] = seqs;
    const last = seqs.at(-1) ?? first;
    const isSpan = Math.abs(last - first) === seqs.length - 1;
    const span = last < first ? this.#sql.newestTexts : this.#sql.oldestTexts;
    const listed = isSpan ? '' : JSON.stringify(seqs);
    const joined = readable(() =>
      isSpan
        ? span.get(Math.min(first, last), Math.max(first, last), joiner)
        : this.#sql.listedTexts.get(listed, null, joiner),
    );
    return joined?.['count'] === seqs.length ? bufferOf(joined['joined']) : undefined;
  }

  #joinListed(seqs: readonly Seq[], joiner: string): Buffer | undefined {
    const rows = this.#small(() => this.#sql.listed.get(JSON.stringify(seqs)), seqs.length);
    return rows && join(rows.map(portableTextOf), Buffer.from(joiner));
  }

  /** As their rows have them, although some may be withheld, in the order of `seqs`. Leaves out what cannot be read. */
  storedRows(seqs: readonly Seq[]): EntryRow[] {
    const found = readable(() => foundIn(this.#sql.listed.get(JSON.stringify(seqs))));
    const rows = found?.map((row) => readable(() => this.#storedOf(row)));
    return (rows ?? seqs.map((seq) => readable(() => this.stored(seq)))).filter(
      (row) => row !== undefined,
    );
  }

  /** How many of these entries each part has, by room and kind. */
  roomsOf(seqs: readonly Seq[], partSize: number): readonly RoomOfPart[] {
    const rows = this.#sql.rooms.all(JSON.stringify(seqs), partSize);
    return rows.map(({ kind, room, part, count }) => ({
      kind: KINDS[Number(kind)] ?? KINDS[0],
      room: String(room),
      part: Number(part),
      count: Number(count),
    }));
  }

  /** The entries up to this one whose files have more bytes, ascending. */
  withLarge(size: number, last: Seq): Seq[] {
    return this.#sql.large.all(size, last).map(({ seq }) => Number(seq));
  }

  /** The newest first, as they are stored: those of hidden entries too. */
  newestFacets(span: SeqSpan): readonly { readonly seq: Seq; readonly facets: Uint8Array }[] {
    const found = readable(() => this.#sql.facets.all(span.from, span.to));
    if (found === undefined) return [...this.rows(span)].toReversed();
    return found as unknown as readonly { seq: Seq; facets: Uint8Array }[];
  }

  /** Undefined if they must be read one by one, because one is large or cannot be read. */
  smallRows({ from, to }: SeqSpan): EntryRow[] | undefined {
    return this.#small(() => this.#sql.span.get(from, to), to - from + 1);
  }

  #small(query: () => Record<string, unknown> | undefined, count: number): EntryRow[] | undefined {
    return readable(() => {
      this.withheld.follow();
      const rows = foundIn(query()).map((found) => this.#asRead(this.#storedOf(found)));
      const areSmall = rows.length === count && rows.every(({ large }) => large === undefined);
      return areSmall ? rows : undefined;
    });
  }

  #asFound(row: FoundRow): EntryRow | undefined {
    return readable(() => this.#asRead(this.#storedOf(row)));
  }

  /** Seems to be spoiled if it is withheld between two reads: to be tried twice. */
  #entry(seq: Seq): EntryRow | undefined {
    this.withheld.follow();
    const stored = this.stored(seq);
    return stored && this.#asRead(stored);
  }

  *#single(seq: Seq): Generator<EntryRow | SpoiledRow> {
    const row = rowOrSpoiled(seq, () => this.entry(seq));
    if (row !== undefined) yield row;
  }

  #storedOf({ fields, data }: FoundRow): EntryRow {
    const file = hasFile(fields) ? this.#fileOf(fields.seq) : undefined;
    const stored = new EntryRow(fields, data, file);
    if (hasForm(fields) && stored.hasText()) return stored;
    throw new Spoiled(`Entry ${fields.seq} cannot be read: its row has lost its form.`);
  }

  #fileOf(seq: Seq): LargeFile {
    const { name = '', size = 0, facets = '' } = this.#sql.file.get(seq) ?? {};
    if (isLargeName(String(name)))
      return { name: String(name), size: Number(size), facets: String(facets) };
    throw new Spoiled(`Entry ${seq} cannot be read: its file is unknown.`);
  }

  #asRead(stored: EntryRow): EntryRow {
    const { seq, isErased } = stored;
    if (!isErased && !this.withheld.has(seq)) return stored;
    const withheld = this.#caseOf(seq);
    if (withheld !== undefined && (isErased || withheld.state !== 'shown'))
      return stored.asWithheld(withheld);
    if (!isErased) return stored;
    throw new Spoiled(`Entry ${stored.seq} cannot be read: it is unknown when it was withheld.`);
  }
}

function statementsOf(log: DatabaseSync) {
  return {
    span: log.prepare(`${ROWS} ${SPAN} AND ${FORM}`),
    listed: log.prepare(`${ROWS} ${LISTED} WHERE ${FORM}`),
    oldestTexts: log.prepare(`${TEXTS} ${SPAN} ORDER BY seq LIMIT -1)`),
    newestTexts: log.prepare(`${TEXTS} ${SPAN} ORDER BY seq DESC LIMIT -1)`),
    listedTexts: log.prepare(`${TEXTS} ${LISTED} LIMIT -1)`),
    facets: log.prepare(`SELECT seq, facets FROM ${SPAN} ORDER BY seq DESC`),
    link: log.prepare('SELECT link FROM entries WHERE seq = ?'),
    exists: log.prepare('SELECT 1 FROM entries WHERE seq = ?'),
    keyed: log.prepare(`SELECT seq FROM entries WHERE ${KEY_PREFIX} = ? AND ${HAS_KEY}`),
    lastSeq: log.prepare('SELECT max(seq) AS seq FROM entries'),
    file: log.prepare('SELECT name, size, facets FROM large WHERE seq = ?'),
    rooms:
      log.prepare(`SELECT kind, room, (seq - 1) / CAST(?2 AS INTEGER) AS part, count(*) AS count
      FROM ${LISTED} GROUP BY kind, room, part`),
    large: log.prepare('SELECT seq FROM large WHERE size > ? AND seq <= ? ORDER BY seq'),
    hasFile: log.prepare('SELECT 1 FROM large WHERE name = ?'),
  };
}

const FIELD_COUNT = 8;

/** The rows in the result of a query. Throws if it is unknown which row some bytes belong to. */
function foundIn(result: Record<string, unknown> | undefined): FoundRow[] {
  const { fields, data } = result ?? {};
  if (typeof fields !== 'string') return [];
  const numbers = JSON.parse(`[${fields}]`) as readonly number[];
  const bytes = bufferOf(data);
  const rows: FoundRow[] = [];
  let end = 0;
  for (let at = 0; at < numbers.length; at += FIELD_COUNT) {
    const field = (place: number): number => numbers[at + place] ?? 0;
    const own: RowFields = {
      seq: field(0),
      time: field(1),
      kind: field(2),
      flags: field(3),
      key: field(4),
      room: field(5),
      facets: field(6),
      text: field(7),
    };
    rows.push({ fields: own, data: bytes.subarray(end, (end += dataSize(own))) });
  }
  if (end === bytes.length && numbers.length % FIELD_COUNT === 0) return rows;
  throw new Spoiled('A row of the log has lost its form.');
}

function rowOrSpoiled<T extends EntryRow | undefined>(seq: Seq, read: () => T): T | SpoiledRow {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error)) return { seq, error };
    throw error;
  }
}

function portableTextOf(row: EntryRow): Buffer {
  const { portability, text } = row;
  return portability === 'exact'
    ? text
    : portableText(text, { portability, metadata: metadataOf(row) });
}

function join(texts: readonly Buffer[], joiner: Buffer): Buffer {
  return Buffer.concat(texts.flatMap((text, at) => (at === 0 ? [text] : [joiner, text])));
}

function bufferOf(data: unknown): Buffer {
  const { buffer, byteOffset, length } = data as Uint8Array;
  return Buffer.from(buffer, byteOffset, length);
}
