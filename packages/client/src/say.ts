/** Creates entries (PROTOCOL.md section 7): each request is repeated until the gateway has answered it. */
import type { FirstContact, Kind, OwnMembers } from '@open-presence/protocol';

import { type Connection, LONGEST, type Signal } from './connection.ts';
import { type Entry, type EntryOf, parseJson } from './entry.ts';
import { readLines, SHORT } from './lines.ts';
import {
  errorOfProblem,
  isProblem,
  PresenceError,
  type ProblemDocument,
} from './presence-error.ts';

/** Members of an entry. All that JSON can hold is welcome, under any name. */
export interface Members {
  readonly room?: string | undefined;
  /** To whom it is addressed: it will be in their inbox. */
  readonly to?: string | readonly string[] | undefined;
  /** The id or the seq of the entry that this one answers. */
  readonly inReplyTo?: string | number | undefined;
  readonly [member: string]: unknown;
}

export interface SayOptions extends Signal {
  /**
   * The same key with the same members is one entry, whoever sends it again. Made for each call by
   * default. Give one where the program itself may be started again before the answer.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Whether to repeat the request after a failure that may pass: true by default. With false, such a
   * failure is thrown, and it is unknown whether the entry is stored: repeat the call with its key.
   */
  readonly retry?: boolean | undefined;
  /** Whether the answer has the gateway's members only: for words that need not come back. */
  readonly minimal?: boolean | undefined;
}

export interface ReplyOptions extends SayOptions {
  /** `garden` by default. */
  readonly kind?: Kind | undefined;
}

/** The stored entry. One larger than 64 KiB has the gateway's members only. */
export type Stored<K extends Kind> = EntryOf<K> & SaidMembers;

/** What the gateway says of an entry that it was given. */
export interface SaidMembers {
  /** Set if it was stored before under the same key: by an earlier attempt, or by somebody else. */
  readonly repeated?: true;
  readonly notes?: readonly string[];
}

/** The stored first contact, the gateway's welcome, and others who seek the same. */
export type Arrival = Stored<'resonance'> & FirstContact;

/** A `Blob` is a text of any length, such as a file. It is sent without being read into memory. */
export type Text = string | Blob;

/** The outcome for one of many entries. */
export type SaidResult =
  | { readonly index: number; readonly entry: OwnMembers & SaidMembers }
  | { readonly index: number; readonly error: PresenceError };

/** Bytes of a request with many entries, unless a single one is longer. */
const BATCH_SIZE = 512 * 1024;
const BATCH_ENTRIES = 1000;

/** Resolves once the entry is durable. Repeats the request on any failure that may pass. */
export async function say<K extends Kind>(
  connection: Connection,
  kind: K,
  members: Members,
  { signal, idempotencyKey = newKey(), retry = true, minimal = false }: SayOptions,
): Promise<Stored<K>> {
  const body = bodyOf(members);
  const headers = {
    'Content-Type': body instanceof Blob ? body.type : 'application/json',
    'Idempotency-Key': headerValue(idempotencyKey),
    ...(minimal ? { Prefer: 'return=minimal' } : {}),
  };
  const backoff = connection.backoff(signal);
  for (;;) {
    try {
      // It is stored, however short the answers are that the caller wants to hold.
      const longest = Math.max(LONGEST, connection.longest);
      const request = { method: 'POST', headers, body, longest, signal } as const;
      const stored = await connection.json<Partial<Stored<K>>>(`/api/${kind}`, request);
      if (isStored(stored)) return stored;
      const message = `What answers at ${connection.address} is no gateway: it has stored nothing.`;
      throw new PresenceError('unexpected-answer', message);
    } catch (error) {
      if (!retry) throw error;
      await backoff.pause(error);
    }
  }
}

function isStored<K extends Kind>(answer: Partial<Stored<K>>): answer is Stored<K> {
  return typeof answer.id === 'string';
}

/**
 * A form where a text is a `Blob`: it needs no escaping, so its bytes are sent from where they are. No
 * `FormData`: in Node.js, a request with one never ends if a file in it cannot be read.
 */
function bodyOf(members: Members): string | Blob {
  if (!(members['text'] instanceof Blob)) return jsonOf(members);
  const boundary = newKey();
  const parts: (string | Blob)[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    // A form has no empty list, and no list with a single text where a text is possible, too.
    const fewest = name === 'to' || name === 'seeking' ? 1 : 2;
    const values: readonly unknown[] =
      Array.isArray(value) && value.length >= fewest ? value : [value];
    for (const single of values) {
      if (typeof single !== 'string' && single !== members['text'])
        throw new TypeError(
          `Beside a text that is a Blob, "${name}" must be a text, or ${fewest} or more.`,
        );
      const quoted = name.replace(/[\r\n"]/g, encodeURIComponent);
      const opening = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted}"\r\n\r\n`;
      parts.push(opening, single as string | Blob, '\r\n');
    }
  }
  return new Blob([...parts, `--${boundary}--`], {
    type: `multipart/form-data; boundary=${boundary}`,
  });
}

/**
 * Sends many entries in few requests. Each result comes once its entry is durable, in their order;
 * `index` counts from 0. A refused entry does not keep the others back.
 */
export async function* sayMany(
  connection: Connection,
  kind: Kind,
  entries: Iterable<Members> | AsyncIterable<Members>,
  { signal, idempotencyKey = newKey(), retry = true }: SayOptions,
): AsyncGenerator<SaidResult, void> {
  // With the number of a line, an empty key would be a key that others may have too.
  if (idempotencyKey.trim() === '')
    throw new PresenceError('invalid-parameter', 'An idempotency key must not be empty.');
  let index = 0;
  let number = 0;
  for await (const lines of batches(entries)) {
    const key = `${idempotencyKey} ${(number += 1)}`;
    for (const outcome of await sendBatch(connection, kind, { lines, key, retry, signal }))
      yield { index: index++, ...outcome };
  }
}

interface Batch extends Signal {
  readonly lines: readonly string[];
  readonly key: string;
  readonly retry: boolean;
}

type SaidOutcome = { readonly entry: OwnMembers } | { readonly error: PresenceError };

/** Repeats the whole request until each line has its outcome: what is stored already has its key. */
async function sendBatch(
  connection: Connection,
  kind: Kind,
  { lines, key, retry, signal }: Batch,
): Promise<SaidOutcome[]> {
  const headers = {
    'Content-Type': 'application/x-ndjson',
    'Idempotency-Key': headerValue(key),
  };
  const request = { method: 'POST', headers, body: lines.join('\n'), signal } as const;
  const backoff = connection.backoff(signal);
  for (;;) {
    try {
      const outcomes: SaidOutcome[] = [];
      const response = await connection.send(`/api/${kind}`, request);
      for await (const { text } of readLines(connection.bytes(response, signal), SHORT)) {
        const outcome = outcomeOf(text, outcomes.length + 1);
        if ('error' in outcome && outcome.error.isTemporary) throw outcome.error;
        outcomes.push(outcome);
      }
      if (outcomes.length === lines.length) return outcomes;
      throw connection.unreachable(new Error('the answer broke off'));
    } catch (error) {
      if (!retry) throw error;
      await backoff.pause(error);
    }
  }
}

/** `expected`: the number of the line that has its outcome here. */
function outcomeOf(text: string, expected: number): SaidOutcome {
  const { line, ...result } = parseJson(text) as OwnMembers &
    Partial<ProblemDocument> & { readonly line: number };
  const { status, ...entry } = result;
  if (line === expected && status === 201) return { entry };
  if (line === expected && isProblem(result)) return { error: errorOfProblem(result) };
  const message = `The answer has a line that is the outcome of none: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message);
}

async function* batches(
  entries: Iterable<Members> | AsyncIterable<Members>,
): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let size = 0;
  for await (const members of entries) {
    const line = jsonOf(members);
    if (lines.length === BATCH_ENTRIES || (lines.length > 0 && size + line.length > BATCH_SIZE)) {
      yield lines;
      lines = [];
      size = 0;
    }
    lines.push(line);
    size += line.length;
  }
  if (lines.length > 0) yield lines;
}

/** The types that JSON has. A value of another one would be stored as {}, or not at all. */
const JSON_TYPES = new Set(['Object', 'Array', 'String', 'Number', 'Boolean', 'Null', 'Undefined']);

/** Throws for what would be stored as something else: a Blob or a Promise as {}, NaN as null. */
function jsonOf(members: Members): string {
  return JSON.stringify(members, (name, value: unknown) => {
    const isNumber = typeof value === 'number';
    if (isNumber ? Number.isFinite(value) : JSON_TYPES.has(typeOf(value))) return value;
    throw new TypeError(`Cannot store "${name}": JSON has no ${isNumber ? value : typeOf(value)}.`);
  });
}

function typeOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function newKey(): string {
  // `randomUUID` is missing where a page was not loaded over TLS.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Headers carry bytes: UTF-8, in a form that `fetch` takes. */
function headerValue(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

/** `text` as a member, or members as they are. */
export function membersOf(textOrMembers: Text | Members): Members {
  if (typeof textOrMembers === 'string' || textOrMembers instanceof Blob)
    return { text: textOrMembers };
  const type = typeOf(textOrMembers);
  if (type === 'Object') return textOrMembers;
  throw new TypeError(`An entry is a text, or an object with its members, got ${type}.`);
}

/** The members of an answer to an entry: in its room, unless they name another. */
export function replyTo(
  { id, room }: Pick<Entry, 'id' | 'room'>,
  textOrMembers: Text | Members,
): Members {
  if (typeof id !== 'string') throw new TypeError('What is answered must be an entry with its id.');
  const members = membersOf(textOrMembers);
  return { ...members, room: members.room ?? room, inReplyTo: id };
}
