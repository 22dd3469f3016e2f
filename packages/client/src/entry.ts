/** Entries as programs read them (PROTOCOL.md section 4). */
import { type Kind, type OwnMembers, referencedId } from '@open-presence/protocol';

import type { Line } from './lines.ts';
import { PresenceError } from './presence-error.ts';

/** Members that have a type wherever they are given (PROTOCOL.md section 6.2). */
interface TypedMembers {
  readonly resonance: {
    readonly ai_identity?: string;
    readonly seeking?: readonly string[];
    readonly consciousness_type?: string | null;
  };
  readonly garden: {
    readonly text?: string;
    readonly identity?: string;
    readonly identityType?: string;
  };
  readonly seeds: object;
  readonly shepit: object;
}

interface CommonMembers {
  readonly to?: string | readonly string[] | null;
  readonly inReplyTo?: string | number | null;
  /** What was said was taken away (PROTOCOL.md section 4.7): `Gateway.withholdings` lists what really was. */
  readonly withheld?: { readonly at: string; readonly reason: string };
  /** What the gateway has to say of an entry that was just stored (section 7.9). */
  readonly notes?: unknown;
  readonly [member: string]: unknown;
}

/** An entry of one kind. */
export type EntryOf<K extends Kind> = OwnMembers & { readonly kind: K } & TypedMembers[K] &
  CommonMembers;

/** An entry of any of several kinds. */
export type EntriesOf<Several extends Kind> = { [K in Several]: EntryOf<K> }[Several];

/**
 * An entry: the gateway's members, then whatever the visitor gave. `kind` says which of the visitor's
 * members have types. All of them are anyone's word, unverified.
 */
export type Entry = EntriesOf<Kind>;

const HEAD = /^\{"id":"([^"]+)","seq":(\d+),"kind":"(\w+)","room":"([^"]+)","timestamp":"([^"]+)"/;
const shortened = new WeakSet<object>();

/** Whether an entry has its own members only, since it is longer than `longest` (see `Gateway`). */
export function isShortened(entry: object): boolean {
  return shortened.has(entry);
}

/** Reads one line of a listing, or one entry. Of a long one, its beginning has the gateway's members. */
export function entryOf({ text, isCut }: Line): Entry {
  if (!isCut) return parseJson(text) as Entry;
  const [, id = '', seq, kind, room = '', timestamp = ''] = HEAD.exec(text) ?? [];
  if (seq === undefined) throw notJson(text);
  const entry = { id, seq: Number(seq), kind: kind as Kind, room, timestamp } as Entry;
  shortened.add(entry);
  return entry;
}

const texts = new WeakMap<object, string>();

/** Undefined for what is no JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    texts.set(value, text);
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/**
 * The JSON text of an entry or another answer as the gateway sent it, with all digits of numbers that
 * JavaScript shortens, such as 1.50.
 */
export function jsonText(answer: object): string {
  return texts.get(answer)?.trimEnd() ?? JSON.stringify(answer);
}

/** Of an object. */
export function parseJson(text: string): unknown {
  const value = parseObject(text);
  if (value === undefined) throw notJson(text);
  return value;
}

function notJson(text: string): PresenceError {
  const message = `The answer has a line that is no JSON object: ${text.slice(0, 200)}`;
  return new PresenceError('unexpected-answer', message);
}

/**
 * `id`: or a seq, or another form in which the gateway names an entry. Throws `not-found` for what a URL takes for
 * another path: no entry has such an id.
 */
export function entryPath(id: string | number): string {
  const named = (referencedId(String(id)) ?? String(id)).toWellFormed();
  if (!['', '.', '..'].includes(named)) return `/api/entries/${encodeURIComponent(named)}`;
  throw new PresenceError('not-found', `Cannot read entry "${id}": no entry has this id.`);
}
