/** An entry in `log.sqlite`: the link covers what it says, a checksum its flags, its facets and its files. */
import { crc32 } from 'node:zlib';

import {
  entryHead,
  type Kind,
  KINDS,
  type EntryMetadata,
  portableJson,
} from '@open-presence/protocol';

import type { Seq, Withholding } from '../../log/log.ts';
import { PORTABILITIES, type Portability } from '../../log/portability.ts';
import { answeredIn, threadFacet, threadIn, withheldFacets } from '../../log/thread.ts';
import { digestOf, KEY_COLUMN_SIZE, sha256 } from './chain.ts';

// Each column of a withheld entry is overwritten with the same number of bytes, so that SQLite moves nothing.
export const ENTRIES_TABLE = `CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,  -- ms since 1970
  kind INTEGER NOT NULL,  -- its place in KINDS
  room TEXT NOT NULL,
  flags INTEGER NOT NULL,  -- see below
  link BLOB NOT NULL,  -- SHA-256, see chain.ts
  salt BLOB NOT NULL,
  key BLOB,  -- the key column, or its SHA-256 where only that is known
  facets BLOB NOT NULL,  -- of an answer also that of its thread, as the last
  sum BLOB NOT NULL,  -- see sumOf
  text BLOB NOT NULL  -- the whole entry; of a large one its head and a comma
) STRICT`;

/** Bytes of the key's digest that the index has, after the 16 of its salt. Different keys may share them. */
export const KEY_PREFIX_SIZE = 6;
export const KEY_PREFIX: string = `substr(key, 17, ${KEY_PREFIX_SIZE})`;
export const HAS_KEY: string = `octet_length(key) = ${KEY_COLUMN_SIZE}`;
/** SQLite writes it with the entry. */
export const KEYS_INDEX: string = `CREATE INDEX keys ON entries (${KEY_PREFIX}) WHERE ${HAS_KEY}`;

/** When (ms since 1970) and why an entry was withheld, and what its link was made of. */
export interface WithheldRow extends Pick<Withholding, 'time' | 'reason' | 'state'> {
  readonly digest: Uint8Array;
}

export interface LargeFile {
  readonly name: string;
  /** Bytes, with the closing brace. */
  readonly size: number;
  /** In format 1: SHA-256, in hex, of files beside it that had more facets. */
  readonly facets: string;
}

/** Always set, so that the flags take one byte whatever they are. */
export const PLAIN = 64;
// 2 was set where files had more facets.
const HAS_FILE = 1;
/** The text is erased, or was hidden by a version that marked rows of hidden entries too. */
const WITHHELD = 4;
/** Times the index in `PORTABILITIES`. */
const PORTABILITY = 8;
const KEY_HASH_SIZE = 32;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const LARGE_NAME = /^[\da-f-]{36}$/;

export function flagsOf(row: {
  readonly large: LargeFile | undefined;
  readonly portability?: Portability | undefined;
  readonly isWithheld?: boolean | undefined;
}): number {
  return (
    PLAIN |
    (row.large === undefined ? 0 : HAS_FILE) |
    (row.isWithheld === true ? WITHHELD : 0) |
    (PORTABILITIES.indexOf(row.portability ?? 'exact') * PORTABILITY)
  );
}

const SUM = Buffer.alloc(4);

/** The checksum of what the link does not cover. The next call overwrites it. */
export function sumOf(flags: number, facets: Uint8Array, large: LargeFile | undefined): Buffer {
  const sum = crc32(facets, flags);
  SUM.writeUInt32LE(
    large === undefined ? sum : crc32(`${large.name} ${large.size} ${large.facets}`, sum),
  );
  return SUM;
}

/** Bytes of a head beside kind, room and the digits of the seq. */
const HEAD_SIZE = headOf('', '', 0) - 1;
const LONG_YEAR = Date.UTC(10_000, 0);

function headOf(kind: string, room: string, time: number): number {
  return entryHead({ id: '-'.repeat(36), seq: 1, kind: kind as Kind, room, time }).length;
}

export interface RowFields {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: number;
  readonly flags: number;
  readonly key: number;
  readonly room: number;
  readonly facets: number;
  readonly text: number;
}

export const LINK_SIZE = 32;
const SALT_SIZE = 16;
const NO_SALT = Buffer.alloc(SALT_SIZE);
const SUM_SIZE = 4;
const FIXED_SIZE = LINK_SIZE + SALT_SIZE + SUM_SIZE;

export function dataSize({ key, room, facets, text }: RowFields): number {
  return FIXED_SIZE + key + room + facets + text;
}

export function hasForm({ kind, flags, key }: RowFields): boolean {
  if (KINDS[kind] === undefined || (flags & PLAIN) === 0 || flags >= 2 * PLAIN) return false;
  const isKey = key === 0 || key === KEY_HASH_SIZE || key === KEY_COLUMN_SIZE;
  return isKey && PORTABILITIES[(flags % PLAIN) >> 3] !== undefined;
}

/** Reads each member when it is asked for: most readers want few of them. */
export class EntryRow {
  readonly seq: Seq;
  readonly time: number;
  /** Of a withheld entry, the digest of the salt and the body that it had. */
  readonly digest: Uint8Array | undefined = undefined;
  /** Set where the visitor's members were taken away. */
  readonly withheld: WithheldRow | undefined = undefined;
  readonly #fields: RowFields;
  /** Link, salt, checksum, key, room, facets and text, one after another. */
  readonly #data: Buffer;
  /** Has the body of a large entry. */
  readonly file: LargeFile | undefined;

  constructor(fields: RowFields, data: Buffer, file: LargeFile | undefined) {
    this.seq = fields.seq;
    this.time = fields.time;
    this.#fields = fields;
    this.#data = data;
    this.file = file;
  }

  get kind(): Kind {
    return KINDS[this.#fields.kind] ?? KINDS[0];
  }

  get room(): string {
    const at = FIXED_SIZE + this.#fields.key;
    return this.#data.toString('latin1', at, at + this.#fields.room);
  }

  /** Bytes of the gateway's own members at the beginning of the text. */
  get head(): number {
    const { seq, time } = this;
    const digits = String(seq).length + (time < LONG_YEAR ? 0 : 3);
    return HEAD_SIZE + digits + this.kind.length + this.#fields.room;
  }

  /** Bytes of the whole entry, with those in the file of a large one. */
  get size(): number {
    return this.#fields.text + (this.file?.size ?? 0);
  }

  /** Name of the file with the body of a large entry. */
  get large(): string | undefined {
    return this.file?.name;
  }

  get portability(): Portability {
    return PORTABILITIES[(this.#fields.flags % PLAIN) >> 3] ?? 'exact';
  }

  /** Whether the text has the form of an entry: braces around at least the gateway's members. */
  hasText(): boolean {
    const begin = this.#data.length - this.#fields.text;
    const isBegun = this.head <= this.#fields.text && this.#data[begin] === OPENING;
    return isBegun && (this.#data.at(-1) === CLOSING || this.#has(HAS_FILE | WITHHELD));
  }

  /** Without what the visitor said, although the row has that until it is erased. */
  asWithheld(withheld: WithheldRow): EntryRow {
    return new WithheldEntry(this.#fields, this.#data, withheld);
  }

  /** Whether nothing is left of what the visitor said. */
  get isErased(): boolean {
    return this.#has(WITHHELD) && this.#salt.every((byte) => byte === 0);
  }

  /** Whether flags, facets and file are as they were stored: the link does not cover them. */
  get isWhole(): boolean {
    const sum = this.#data.subarray(LINK_SIZE + SALT_SIZE, FIXED_SIZE);
    return sumOf(this.#fields.flags, this.storedFacets, this.file).equals(sum);
  }

  get link(): Buffer {
    return this.#data.subarray(0, LINK_SIZE);
  }

  /** Destroyed with the body, so that the digest reveals nothing about it. Zeros if the entry is withheld. */
  get salt(): Buffer {
    return this.#salt;
  }

  /** Undefined also for the copy of an entry of another gateway. */
  get key(): Buffer | undefined {
    return this.#fields.key === KEY_COLUMN_SIZE ? this.#keyColumn : undefined;
  }

  /** SHA-256 of the key column, which the link covers; of a copied entry too. */
  get keyHash(): Uint8Array | undefined {
    return this.#fields.key === KEY_HASH_SIZE ? this.#keyColumn : this.key && sha256(this.key);
  }

  get facets(): Buffer {
    const stored = this.storedFacets;
    return threadIn(stored) === undefined ? Buffer.concat([stored, threadFacet(this.seq)]) : stored;
  }

  get storedFacets(): Buffer {
    const end = this.#data.length - this.#fields.text;
    return this.#data.subarray(end - this.#fields.facets, end);
  }

  /** The entry that begins the thread that it belongs to; its own seq if it begins one. */
  get thread(): Seq {
    return threadIn(this.storedFacets) ?? this.seq;
  }

  /** The id of the entry that it answers. */
  get answered(): string | undefined {
    const stored = this.storedFacets;
    return threadIn(stored) === undefined ? undefined : answeredIn(stored, true);
  }

  /** The whole entry; for a large one its head and a comma, or its head alone if the body is empty. */
  get text(): Buffer {
    return this.#data.subarray(this.#data.length - this.#fields.text);
  }

  get #salt(): Buffer {
    return this.#data.subarray(LINK_SIZE, LINK_SIZE + SALT_SIZE);
  }

  get #keyColumn(): Buffer {
    return this.#data.subarray(FIXED_SIZE, FIXED_SIZE + this.#fields.key);
  }

  #has(flag: number): boolean {
    return (this.#fields.flags & flag) !== 0;
  }
}

/** The gateway's members, and when and why it was withheld (PROTOCOL.md section 4.7). */
class WithheldEntry extends EntryRow {
  override readonly withheld: WithheldRow;
  override readonly digest: Uint8Array;

  constructor(fields: RowFields, data: Buffer, withheld: WithheldRow) {
    super(fields, data, undefined);
    this.withheld = withheld;
    const isInRow = withheld.digest.length === 0 && !hasFile(fields) && !this.isErased;
    const body = super.text.subarray(this.head + 1, -1);
    this.digest = isInRow ? digestOf(super.salt, sha256(body)) : withheld.digest;
  }

  override get size(): number {
    return this.text.length;
  }

  override get portability(): Portability {
    return 'exact';
  }

  override get isWhole(): boolean {
    return true;
  }

  override get salt(): Buffer {
    return NO_SALT;
  }

  override get facets(): Buffer {
    return withheldFacets(this.kind, this.room, undefined);
  }

  override get text(): Buffer {
    const { time, reason } = this.withheld;
    const member = portableJson({ at: new Date(time).toISOString(), reason });
    const own = super.text.subarray(0, this.head);
    return Buffer.concat([own, Buffer.from(`,"withheld":${member}}`)]);
  }
}

export function hasFile({ flags }: RowFields): boolean {
  return (flags & HAS_FILE) !== 0;
}

/** Whether a file may have the name: one that has changed may lead out of the folder. */
export function isLargeName(name: string): boolean {
  return LARGE_NAME.test(name);
}

/** The text begins with `{"id":"` and the id. */
export function metadataOf({ seq, kind, room, time, text }: EntryRow): EntryMetadata {
  return { seq, id: text.toString('latin1', 7, 43), kind, room, time };
}
