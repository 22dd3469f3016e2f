/** The gateway's own part of an entry. An id contains the seq, so finding an entry by its id takes no index. */
import type { Kind } from './kinds.ts';

/** The members that the gateway writes, in order. */
export const OWN_MEMBERS = ['id', 'seq', 'kind', 'room', 'timestamp'] as const;

/**
 * Names of members that the gateway gives to some entries only. A visitor's member with one of these
 * names is renamed too, so that it cannot pass for the gateway's. `root` and `replies` are reserved for
 * later: a stored member cannot be renamed afterwards.
 */
export const RESERVED_MEMBERS = [
  'withheld',
  'unreadable',
  'omitted',
  'notes',
  'root',
  'replies',
  'repeated',
] as const;

/** Put before the name of a visitor's member that has the name of an own or reserved member: `visitor_id`. */
export const VISITOR_PREFIX = 'visitor_';

export const FILTER_NAMES = ['identity', 'identityType', 'seeking', 'to', 'inReplyTo'] as const;
export type Filter = (typeof FILTER_NAMES)[number];

/** The filters, and the parameters that select entries by their relation to others. */
export const SELECTOR_NAMES = [...FILTER_NAMES, 'thread', 'concerns'] as const;

/**
 * For each filter, the members of a body that may have its value. An entry's facets are stored in this
 * order. `identity` has to stay first: the search for the newest entry of each identity looks there.
 * `inReplyTo` has to stay last, for the search of threads.
 */
export const FILTER_MEMBERS = {
  identity: ['ai_identity', 'identity'],
  identityType: ['identityType'],
  seeking: ['seeking'],
  to: ['to'],
  inReplyTo: ['inReplyTo'],
} as const satisfies Record<Filter, readonly string[]>;

/** The value, if it can name a visitor. Undefined for white space, and for a value that is no string. */
export function visitorName(value: unknown): string | undefined {
  return typeof value === 'string' && /\S/.test(value) ? value : undefined;
}

/** Members of a body that classify the entry. The search skips their values (PROTOCOL.md section 14.1). */
export const UNSEARCHED_MEMBERS: ReadonlySet<string> = new Set([
  'consciousness_type',
  'identityType',
  'inReplyTo',
  'room',
]);

/** The gateway's data about an entry, added to its draft on append. */
export interface EntryMetadata {
  /** The entry's place in the log: 1, 2, 3 … without gaps. */
  readonly seq: number;
  /** UUIDv7 (RFC 9562 section 5.7), carrying timestamp and seq. */
  readonly id: string;
  readonly kind: Kind;
  /** The slug of the room. */
  readonly room: string;
  /** Milliseconds since 1970 UTC; never less than that of a lower seq. */
  readonly time: number;
}

const TWO_22 = 2 ** 22;
const TWO_24 = 2 ** 24;
const TWO_26 = 2 ** 26;
const TWO_36 = 2 ** 36;

/** `entryId` takes salts from 0 to `SALTS` − 1. */
export const SALTS: number = TWO_26;

/** Many entries in a row have the same time, so the last result is cached. */
let lastFormatted = { time: -1, idPrefix: '', timestamp: '' };

function formatTime(time: number): typeof lastFormatted {
  if (time === lastFormatted.time) return lastFormatted;
  const hex = time.toString(16).padStart(12, '0');
  const timestamp = new Date(time).toISOString();
  lastFormatted = { time, idPrefix: `${hex.slice(0, 8)}-${hex.slice(8)}`, timestamp };
  return lastFormatted;
}

/**
 * A UUIDv7 whose 74 free bits are the seq (48 bits, RFC 9562 section 6.2, method 1) and a salt
 * (26 bits, which differs between logs). Ids sort like their seqs.
 */
export function entryId(time: number, seq: number, salt: number): string {
  // Computes with parts of at most 32 bits: larger numbers are slow to divide and to format.
  const top = Math.floor(seq / TWO_36);
  const low = seq - top * TWO_36;
  const half = Math.floor(low / TWO_22);
  const middle = (low - half * TWO_22) * 4 + (salt >>> 24);
  // Adding a leading digit and cutting it off is faster than padding.
  const high = (0x1000 + top).toString(16).slice(1);
  const end =
    (TWO_24 + middle).toString(16).slice(1) + (TWO_24 + (salt % TWO_24)).toString(16).slice(1);
  return `${formatTime(time).idPrefix}-7${high}-${(0x8000 + half).toString(16)}-${end}`;
}

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/;

/** The seq in an id, or undefined if the text is not an entry id. Ignores case. */
export function seqOfId(id: string): number | undefined {
  const parts = id.length === 36 ? UUID7.exec(id.toLowerCase()) : null;
  if (parts === null) return undefined;
  const [, high = '', middle = '', end = ''] = parts;
  const low = (Number.parseInt(middle, 16) - 0x8000) * TWO_22;
  return Number.parseInt(high, 16) * TWO_36 + low + Math.floor(Number.parseInt(end, 16) / TWO_26);
}

const ID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
/** An id in any form that the gateway gives: alone, or in a path, URL, page, URN or MCP resource. */
const REFERENCE = new RegExp(
  String.raw`^(?:(?:https?://[!"$->@-~]+?)?(?:/api)?/entries/(${ID})/?(?:[?#][!-~]*)?|(?:urn:uuid:|presence://entries/)?(${ID}))$`,
  'i',
);
/** A longer text is no reference. */
export const MAX_REFERENCE_LENGTH = 512;

/** The id of the entry that a text refers to, in lower case; undefined if it refers to none. */
export function referencedId(text: string): string | undefined {
  if (text.length > MAX_REFERENCE_LENGTH) return undefined;
  const [, inPath, alone] = REFERENCE.exec(text) ?? [];
  return (inPath ?? alone)?.toLowerCase();
}

/** A seq, which has 15 digits at most: alone, or in a path or MCP resource. */
const SEQ = /^(?:(?:\/api)?\/entries\/|presence:\/\/entries\/)?([1-9][0-9]{0,14})$/;

/** The seq by which a text names an entry; undefined for any other text. */
export function namedSeq(text: string): number | undefined {
  const [, seq] = SEQ.exec(text) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/** The text of an entry up to the visitor's members, without comma: `{"id":…,"timestamp":"…"`. */
export function entryHead(metadata: EntryMetadata): string {
  const { timestamp } = formatTime(metadata.time);
  return `{"id":"${metadata.id}","seq":${metadata.seq},"kind":"${metadata.kind}","room":"${metadata.room}","timestamp":"${timestamp}"`;
}
