/**
 * The form of an entry within a block (see `blocks.ts`). Numbers are little-endian.
 *
 * A record begins and ends with its size, so that the records on both sides of a spoiled one are
 * found. Between them: sizes, time, kind, flags, link, salt, then what the flags say (`key` or its
 * hash, and name and size of the file of a large body), room, facets, and the text. All sizes together
 * must be that of the record; only a withheld one has zeros in place of what it had. Only the link
 * covers what the bytes are.
 */
import { type Kind, KINDS, type Stamp } from '@open-presence/protocol';

import { facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Seq, Withholding } from '../../../log/log.ts';
import { PORTABILITIES, type Portability } from '../../../log/portability.ts';
import { KEY_COLUMN_SIZE } from './key-column.ts';
import { sha256 } from './sha256.ts';

/** An entry as it is stored. */
export interface EntryRow {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  /** Bytes of the gateway's own members at the beginning of the text. */
  readonly head: number;
  /** Bytes of the whole entry, with those in the file of a large one. */
  readonly size: number;
  /** Name of the file with the body of a large entry. */
  readonly large: string | undefined;
  /** Whether files beside that one have more facets. */
  readonly marked: boolean;
  readonly link: Buffer;
  /** Destroyed with the body, so that its digest tells nothing about it: zeros if it is withheld. */
  readonly salt: Buffer;
  /** Of a withheld entry: made of the salt and the body that it had. */
  readonly digest: Uint8Array | undefined;
  /** See `key-column.ts`. Undefined also for the copy of an entry of another gateway. */
  readonly key: Buffer | undefined;
  /** SHA-256 of the key column, which the link covers; of a copied entry too. */
  readonly keyHash: Uint8Array | undefined;
  readonly facets: Buffer;
  readonly portability: Portability;
  /** The whole entry; for a large one its head and a comma, or its head alone if the body is empty. */
  readonly text: Buffer;
  /** Set where the visitor's members were taken away. */
  readonly withheld: WithheldMember | undefined;
}

/** When an entry was withheld, in ms since 1970, and why. */
export type WithheldMember = Pick<Withholding, 'time' | 'reason'>;

export interface NewRecord {
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly head: number;
  readonly large: { readonly name: string; readonly size: number } | undefined;
  readonly marked: boolean;
  readonly link: Uint8Array;
  readonly salt: Uint8Array;
  /** The key column, or its SHA-256 where only that is known. */
  readonly key: Uint8Array | undefined;
  readonly facets: Uint8Array;
  readonly portability?: Portability;
  /** One after another they are the text. Of a withheld entry: the gateway's members and a brace. */
  readonly text: readonly Uint8Array[];
  readonly isWithheld?: boolean;
}

const SALT_SIZE = 16;
const LINK_SIZE = 32;
const KEY_HASH_SIZE = 32;

const ROOM_SIZE = 4;
const HEAD_SIZE = 8;
const FACETS_SIZE = 12;
const TEXT_SIZE = 16;
const TIME = 20;
const KIND = 28;
const FLAGS = 29;
const LINK = 30;
const SALT = LINK + LINK_SIZE;
const FIXED_SIZE = SALT + SALT_SIZE;
const LARGE_NAME_SIZE = 36;
const LARGE_NAME = /^[\da-f-]{36}$/;
const LARGE_SIZE = LARGE_NAME_SIZE + 8;
/** The size of a record is at both its ends. */
export const SIZE_SIZE = 4;
export const MIN_RECORD_SIZE: number = FIXED_SIZE + SIZE_SIZE;
const BRACE = Buffer.from('}');

const KEYED = 1;
const HAS_FILE = 2;
const MARKED = 4;
/** The table `withheld` has what else is known of the entry (see `withheld.ts`). */
const WITHHELD = 8;
/** In place of the key column there is its SHA-256. */
const KEY_HASHED = 16;
/** Two bits: a number that is an index of `PORTABILITIES`. */
const PORTABILITY = 32;
const KNOWN_FLAGS = 127;

export function recordSize({ room, facets, key, large, text }: NewRecord): number {
  const fixed = MIN_RECORD_SIZE + (key?.length ?? 0);
  const textSize = text.reduce((size, { length }) => size + length, 0);
  return fixed + (large === undefined ? 0 : LARGE_SIZE) + room.length + facets.length + textSize;
}

/** `size`: from `recordSize`. */
export function writeRecord(target: Buffer, start: number, size: number, record: NewRecord): void {
  const { room, facets, key, large, marked, text } = record;
  target.writeUInt32LE(size, start);
  target.writeUInt32LE(room.length, start + ROOM_SIZE);
  target.writeUInt32LE(record.head, start + HEAD_SIZE);
  target.writeUInt32LE(facets.length, start + FACETS_SIZE);
  target.writeDoubleLE(record.time, start + TIME);
  target[start + KIND] = KINDS.indexOf(record.kind);
  target[start + FLAGS] =
    keyFlag(key) |
    (large === undefined ? 0 : HAS_FILE) |
    (marked ? MARKED : 0) |
    (PORTABILITIES.indexOf(record.portability ?? 'exact') * PORTABILITY) |
    (record.isWithheld === true ? WITHHELD : 0);
  target.set(record.link, start + LINK);
  target.set(record.salt, start + SALT);
  let at = start + FIXED_SIZE;
  if (key !== undefined) {
    target.set(key, at);
    at += key.length;
  }
  if (large !== undefined) {
    target.write(large.name, at, LARGE_NAME_SIZE, 'latin1');
    target.writeDoubleLE(large.size, at + LARGE_NAME_SIZE);
    at += LARGE_SIZE;
  }
  // A slug is ASCII by the language file's schema.
  at += target.write(room, at, 'latin1');
  target.set(facets, at);
  at += facets.length;
  const textStart = at;
  for (const piece of text) {
    target.set(piece, at);
    at += piece.length;
  }
  target.writeUInt32LE(at - textStart, start + TEXT_SIZE);
  target.writeUInt32LE(size, at);
}

function keyFlag(key: Uint8Array | undefined): number {
  if (key === undefined) return 0;
  return key.length === KEY_HASH_SIZE ? KEY_HASHED : KEYED;
}

/** Whether the sizes and flags of the record between these agree with each other. */
export function hasForm(data: Buffer, start: number, end: number): boolean {
  if (end - start < MIN_RECORD_SIZE) return false;
  const flags = data[start + FLAGS] ?? 0;
  const kind = data[start + KIND] ?? 0;
  if ((flags & ~KNOWN_FLAGS) !== 0 || kind >= KINDS.length) return false;
  if ((flags & KEYED) !== 0 && (flags & KEY_HASHED) !== 0) return false;
  if (PORTABILITIES[Math.floor(flags / PORTABILITY)] === undefined) return false;
  if ((flags & HAS_FILE) !== 0 && !LARGE_NAME.test(largeName(data, start))) return false;
  const textSize = data.readUInt32LE(start + TEXT_SIZE);
  if (data.readUInt32LE(start + HEAD_SIZE) > textSize) return false;
  const textEnd = textStart(data, start) + textSize + SIZE_SIZE;
  return (flags & WITHHELD) === 0 ? textEnd === end : textEnd <= end;
}

function fileStart(data: Buffer, start: number): number {
  return start + FIXED_SIZE + keySize(data[start + FLAGS] ?? 0);
}

function largeName(data: Buffer, start: number): string {
  const at = fileStart(data, start);
  return data.toString('latin1', at, at + LARGE_NAME_SIZE);
}

function roomStart(data: Buffer, start: number): number {
  const flags = data[start + FLAGS] ?? 0;
  return fileStart(data, start) + ((flags & HAS_FILE) === 0 ? 0 : LARGE_SIZE);
}

/** Bytes of the key column or its hash. */
function keySize(flags: number): number {
  if ((flags & KEYED) !== 0) return KEY_COLUMN_SIZE;
  return (flags & KEY_HASHED) === 0 ? 0 : KEY_HASH_SIZE;
}

export function textStart(data: Buffer, start: number): number {
  const roomAt = roomStart(data, start);
  return roomAt + data.readUInt32LE(start + ROOM_SIZE) + data.readUInt32LE(start + FACETS_SIZE);
}

/** Has what the record has. Reads each member when it is asked for: most readers want few of them. */
export class StoredEntry implements EntryRow {
  readonly seq: Seq;
  readonly #data: Buffer;
  readonly #start: number;

  /** `start`: where the record begins in the data. */
  constructor(seq: Seq, data: Buffer, start: number) {
    this.seq = seq;
    this.#data = data;
    this.#start = start;
  }

  get time(): number {
    return this.#data.readDoubleLE(this.#start + TIME);
  }

  get kind(): Kind {
    return KINDS[this.#data[this.#start + KIND] ?? 0] ?? KINDS[0];
  }

  get room(): string {
    const at = roomStart(this.#data, this.#start);
    return this.#data.toString('latin1', at, at + this.#size(ROOM_SIZE));
  }

  get head(): number {
    return this.#size(HEAD_SIZE);
  }

  get size(): number {
    const textSize = this.#size(TEXT_SIZE);
    return this.#has(HAS_FILE)
      ? textSize + this.#data.readDoubleLE(fileStart(this.#data, this.#start) + LARGE_NAME_SIZE)
      : textSize;
  }

  get large(): string | undefined {
    return this.#has(HAS_FILE) ? largeName(this.#data, this.#start) : undefined;
  }

  get marked(): boolean {
    return this.#has(MARKED);
  }

  get portability(): Portability {
    return PORTABILITIES[Math.floor(this.#flags / PORTABILITY)] ?? 'exact';
  }

  mark(portability: Portability): void {
    const others = this.#flags % PORTABILITY;
    this.#data[this.#start + FLAGS] = others | (PORTABILITIES.indexOf(portability) * PORTABILITY);
  }

  /** From now on the entry is withheld. Its bytes are still there. */
  withhold(): void {
    this.#data[this.#start + FLAGS] = this.#flags | WITHHELD;
  }

  /**
   * Puts zeros in place of all that the visitor said, within the same bytes: SQLite then writes nothing
   * elsewhere, so that no other page gets a copy of them.
   */
  erase(): void {
    const data = this.#data;
    const start = this.#start;
    const { kind, room, head } = this;
    const parts = [facet('kind', kind), facet('room', room), this.text.subarray(0, head), BRACE];
    const rest = Buffer.concat([Buffer.from(room, 'latin1'), ...parts]);
    const flags = this.#flags & (KEYED | KEY_HASHED);
    const end = start + data.readUInt32LE(start) - SIZE_SIZE;
    const at = start + FIXED_SIZE + keySize(flags);
    data[start + FLAGS] = flags | WITHHELD;
    data.writeUInt32LE(2 * FACET_SIZE, start + FACETS_SIZE);
    data.writeUInt32LE(head + BRACE.length, start + TEXT_SIZE);
    data.fill(0, start + SALT, start + FIXED_SIZE);
    data.fill(0, at, end);
    data.set(rest, at);
  }

  get digest(): undefined {
    return undefined;
  }

  get withheld(): undefined {
    return undefined;
  }

  /** If so, only a `WithheldEntry` of it is what the log says. */
  get isWithheld(): boolean {
    return this.#has(WITHHELD);
  }

  /** Whether it is withheld and nothing is left of what the visitor said. */
  get isErased(): boolean {
    return this.isWithheld && this.salt.every((byte) => byte === 0);
  }

  get link(): Buffer {
    return this.#view(this.#start + LINK, LINK_SIZE);
  }

  get salt(): Buffer {
    return this.#view(this.#start + SALT, SALT_SIZE);
  }

  get key(): Buffer | undefined {
    return this.#has(KEYED) ? this.#view(this.#start + FIXED_SIZE, KEY_COLUMN_SIZE) : undefined;
  }

  get keyHash(): Uint8Array | undefined {
    if (this.#has(KEY_HASHED)) return this.#view(this.#start + FIXED_SIZE, KEY_HASH_SIZE);
    return this.key && sha256(this.key);
  }

  get facets(): Buffer {
    const at = roomStart(this.#data, this.#start) + this.#size(ROOM_SIZE);
    return this.#view(at, this.#size(FACETS_SIZE));
  }

  get text(): Buffer {
    return this.#view(textStart(this.#data, this.#start), this.#size(TEXT_SIZE));
  }

  get #flags(): number {
    return this.#data[this.#start + FLAGS] ?? 0;
  }

  #has(flag: number): boolean {
    return (this.#flags & flag) !== 0;
  }

  #size(field: number): number {
    return this.#data.readUInt32LE(this.#start + field);
  }

  #view(start: number, size: number): Buffer {
    return this.#data.subarray(start, start + size);
  }
}

/** The text begins with `{"id":"` and the id. */
export function stampOf({ seq, kind, room, time, text }: EntryRow): Stamp {
  return { seq, id: text.toString('latin1', 7, 43), kind, room, time };
}
