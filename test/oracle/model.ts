/** What a gateway must hold and answer, as plainly as it can be said: a list and `filter`. */
import type { Kind } from '../../conformance/entry.ts';
import { asObject, parseJson } from '../../conformance/value.ts';

export interface ModelEntry {
  readonly seq: number;
  readonly id: string;
  readonly kind: Kind;
  readonly room: string;
  readonly timestamp: string;
  /** The visitor's members, as spelled. */
  readonly body: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type Pair = readonly [name: string, value: string];

/** A listing: where, and what is asked of it. */
export interface ListingQuery {
  readonly path: string;
  /** Which entries the path itself stands for. */
  readonly place: (entry: ModelEntry) => boolean;
  readonly pairs: readonly Pair[];
}

export function ownText({ id, seq, kind, room, timestamp }: ModelEntry): string {
  return `{"id":"${id}","seq":${seq},"kind":"${kind}","room":"${room}","timestamp":"${timestamp}"`;
}

export function textOf(entry: ModelEntry): string {
  return `${ownText(entry)}${entry.body === '' ? '' : ','}${entry.body}}`;
}

const STRING = /"(?:[^"\\]|\\[^])*"/g;
const NUMBER = /-?\d[\d.eE+-]*/g;
const ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[^]|[\u0085\u2028\u2029]/g;

const LINE_END = /[\u0085\u2028\u2029]/;

/** What it is where it stands beside others (PROTOCOL.md section 4.8). No body here is nested deeply. */
export function portableText(entry: ModelEntry): string {
  const numbers = entry.body.replace(STRING, '').match(NUMBER) ?? [];
  if (!numbers.every((number) => Number.isFinite(Number(number)))) {
    const size = Buffer.byteLength(textOf(entry));
    return `${ownText(entry)},"omitted":{"path":"/api/entries/${entry.id}","size":${size}}}`;
  }
  const body = entry.body.replace(ESCAPE, (escape) =>
    /^\\u[dD][89a-fA-F]..$/.test(escape)
      ? String.raw`\ufffd`
      : escape.replace(
          LINE_END,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
  );
  return textOf({ ...entry, body });
}

/** What a string or an array of strings names; nothing else does. */
function names(value: unknown): readonly unknown[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.every((one) => typeof one === 'string') ? all : [];
}

/** The entry that another of them answers: an earlier one. */
export function answered(
  entries: readonly ModelEntry[],
  { seq, fields }: ModelEntry,
): ModelEntry | undefined {
  const { inReplyTo } = fields;
  return entries.find(
    (other) => other.seq < seq && [other.id, String(other.seq)].includes(String(inReplyTo)),
  );
}

/** The entry that began the conversation of this one. */
function rootOf(entries: readonly ModelEntry[], entry: ModelEntry): ModelEntry {
  const parent = answered(entries, entry);
  return parent === undefined ? entry : rootOf(entries, parent);
}

/** No text here mentions anybody. */
function concerns(entries: readonly ModelEntry[], entry: ModelEntry, name: string): boolean {
  const parent = answered(entries, entry);
  return (parent !== undefined && isBy(parent, name)) || names(entry.fields['to']).includes(name);
}

function isBy({ fields }: ModelEntry, name: string): boolean {
  return fields['identity'] === name || fields['ai_identity'] === name;
}

/** Whether an entry has what one parameter asks for. */
function condition(
  entries: readonly ModelEntry[],
  [name, value]: Pair,
): (entry: ModelEntry) => boolean {
  switch (name) {
    case 'thread': {
      const named = entries.find(({ id, seq }) => [id, String(seq)].includes(value));
      const root = named && rootOf(entries, named);
      return (entry) => root !== undefined && rootOf(entries, entry) === root;
    }
    case 'concerns':
      return (entry) => concerns(entries, entry, value);
    case 'after':
      return ({ seq }) => seq > Number(value);
    case 'before':
      return ({ seq }) => seq < Number(value);
    case 'since':
      return ({ timestamp }) => Date.parse(timestamp) >= Date.parse(value);
    case 'until':
      return ({ timestamp }) => Date.parse(timestamp) < Date.parse(value);
    case 'room':
      return ({ room }) => room === value;
    case 'kind':
      return ({ kind }) => kind === value;
    case 'identity':
      return (entry) => isBy(entry, value);
    case 'seeking':
    case 'to':
      return ({ fields }) => names(fields[name]).includes(value);
    case 'inReplyTo': {
      const named = entries.find(({ id, seq }) => [id, String(seq)].includes(value));
      if (named === undefined) return ({ fields }) => String(fields[name]) === value;
      return (entry) => answered(entries, entry) === named;
    }
    case 'order':
    case 'limit':
      return () => true;
    default:
      return ({ fields }) => fields[name] === value;
  }
}

/** Several rooms, or kinds, are alternatives. */
function alternatives(pair: Pair, pairs: readonly Pair[]): readonly Pair[] {
  const [name] = pair;
  return name === 'room' || name === 'kind' ? pairs.filter(([other]) => other === name) : [pair];
}

/** Everything that the listingQuery asks for, in its order, without its limit. */
export function selected(
  entries: readonly ModelEntry[],
  { place, pairs }: ListingQuery,
): ModelEntry[] {
  const conditions = pairs.map((pair) =>
    alternatives(pair, pairs).map((one) => condition(entries, one)),
  );
  const all = entries.filter(
    (entry) => place(entry) && conditions.every((some) => some.some((takes) => takes(entry))),
  );
  const oldest = pairs.some(([name, value]) => name === 'order' && value === 'oldest');
  return oldest ? all : all.toReversed();
}

export function limitOf({ pairs }: ListingQuery): number {
  return Number(pairs.find(([name]) => name === 'limit')?.[1] ?? Number.POSITIVE_INFINITY);
}

/**
 * The newest twelve earlier first contacts of others that seek one of the same things, of each visitor
 * the newest. White space alone is nobody's name, and all whose summary has no name are as one.
 */
export function companionsOf(entries: readonly ModelEntry[], entry: ModelEntry): string[] {
  const sought = names(entry.fields['seeking']);
  const own = nameIn(textOf(entry));
  const isOwn = (other: ModelEntry, name: string | undefined): boolean =>
    own !== undefined && (name === own || (name === undefined && isBy(other, own)));
  return entries
    .filter((other) => other.kind === 'resonance' && other.seq < entry.seq)
    .filter((other) => names(other.fields['seeking']).some((one) => sought.includes(one)))
    .toReversed()
    .map((other) => ({ other, summary: summaryOf(other), name: nameIn(summaryOf(other)) }))
    .filter(({ other, name }) => !isOwn(other, name))
    .filter(({ name }, at, all) => all.findIndex((one) => one.name === name) === at)
    .slice(0, 12)
    .map(({ summary }) => summary);
}

function summaryOf(entry: ModelEntry): string {
  const whole = portableText(entry);
  return Buffer.byteLength(whole) > 16 * 1024 ? `${ownText(entry)}}` : whole;
}

function nameIn(text: string): string | undefined {
  const { ai_identity: name } = asObject(parseJson(text));
  return typeof name === 'string' && name.trim() !== '' ? name.toWellFormed() : undefined;
}
