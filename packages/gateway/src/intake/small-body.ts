/**
 * The fast path for a small body that is stored as it is, between its outer braces.
 *
 * Invariant: A visitor’s bytes come back as they were sent.
 * Test: `test/log-contract/appending.ts` “keeps what the visitor said letter by letter”
 * Test: `packages/gateway/src/doors/rest/contribute.test.ts` “has the visitor’s bytes unchanged”
 */
import { facet, FACET_SIZE, type Facet } from '../log/facet.ts';
import { isSurelyExact } from '../json/portability-meter.ts';
import { isJsonObject, type JsonObject } from '../json/json-object.ts';
import { replaceBreaks } from './body-buffer.ts';
import type { KindGrammar, Rule } from './grammar.ts';
import { UnknownNames, type NearMember } from './near-members.ts';
import { MAX_ADDRESSED, type ParsedDraft } from './body-reader.ts';

/** Refuses what is not UTF-8, drops a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true });

export function parseSmallBody(
  kind: KindGrammar,
  bytes: Uint8Array,
):
  | (Pick<ParsedDraft, 'facets' | 'hasReplyTo' | 'near' | 'to'> & { readonly body: Uint8Array })
  | undefined {
  let text: string;
  let members: unknown;
  try {
    text = decoder.decode(bytes);
    members = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(members) || !isSurelyExact(bytes, text)) return undefined;
  const unknown = unknownNames(kind, members);
  if (unknown === undefined) return undefined;
  for (const { name, rule } of kind.rules) if (!isValid(rule, members[name])) return undefined;
  const body = betweenBraces(bytes);
  const { inReplyTo } = members;
  const near = nearMembers(kind, unknown, members);
  const to = addressedNames(members);
  return {
    ...(to.length === 0 ? {} : { to }),
    ...(near.length === 0 ? {} : { near }),
    ...(['string', 'number'].includes(typeof inReplyTo) ? { hasReplyTo: true as const } : {}),
    body: /[\n\r\t]/.test(text) ? replaceBreaks(body) : body,
    facets: facetsOf(kind, members),
  };
}

/** Names without a meaning for the kind. Undefined if a name is the gateway's, or may have been misread. */
function unknownNames(kind: KindGrammar, members: JsonObject): readonly string[] | undefined {
  const unknown: string[] = [];
  for (const name of Object.keys(members)) {
    // V8 14 may read `i\u0064`, which is `id`, as `i\`: the name that an earlier text had in its place.
    if (name.includes('\\')) return undefined;
    const member = kind.members.get(name);
    if (member === undefined) unknown.push(name);
    else if (member.isOwn) return undefined;
  }
  return unknown;
}

const NONE: readonly NearMember[] = [];

function nearMembers(
  { meant }: KindGrammar,
  unknown: readonly string[],
  members: JsonObject,
): readonly NearMember[] {
  if (meant === undefined || unknown.length === 0) return NONE;
  const names = new UnknownNames();
  for (const name of unknown) names.add(name);
  return meant.near(names, (name) => (members[name] ?? null) !== null);
}

/** As `BodyReader` has them, which holds no long text. */
function addressedNames({ to }: JsonObject): string[] {
  if (to === undefined || to === null) return [];
  const names = [to].flat().filter((name) => typeof name === 'string');
  return names.slice(0, MAX_ADDRESSED).map((name) => (Buffer.byteLength(name) > 1024 ? '' : name));
}

function isValid(rule: Rule, value: unknown): boolean {
  if (value === undefined || value === null) return !rule.required;
  if (typeof value === 'string') return rule.type !== 'strings';
  if (typeof value === 'number') return rule.type === 'string or number';
  return rule.type.includes('strings') && isStrings(value);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function facetsOf({ facets, filterMembers }: KindGrammar, members: JsonObject): Uint8Array {
  const found: Facet[] = [];
  for (const { name, filter, takesArray } of filterMembers) {
    const value = members[name];
    if (typeof value === 'string') found.push(facet(filter, value));
    else if (typeof value === 'number' && filter === 'inReplyTo')
      found.push(facet(filter, String(value)));
    else if (takesArray && isStrings(value))
      for (const element of value) found.push(facet(filter, element));
  }
  const joined = Buffer.allocUnsafe(facets.length + found.length * FACET_SIZE);
  joined.set(facets);
  for (const [index, each] of found.entries()) joined.set(each, facets.length + index * FACET_SIZE);
  return joined;
}

function betweenBraces(bytes: Uint8Array): Uint8Array {
  let from = 0;
  let to = bytes.length - 1;
  while (bytes[from] !== 0x7b) from++;
  while (bytes[to] !== 0x7d) to--;
  from++;
  while (from < to && (bytes[from] ?? 0) <= 0x20) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= 0x20) to--;
  return bytes.subarray(from, to);
}
