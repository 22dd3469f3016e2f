/** The short way of a small body that needs no rewriting. */
import { OWN_MEMBERS } from '@open-presence/protocol';

import { facet, FACET_SIZE, type Facet } from '../log/facet.ts';
import type { KindGrammar, Rule } from './grammar.ts';

export interface Small {
  readonly body: Uint8Array;
  readonly facets: Uint8Array;
}

/** Refuses what is not UTF-8, drops a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true });

type Members = Readonly<Record<string, unknown>>;

/**
 * Undefined for a body that is refused or has a member of the gateway's own names: those take the
 * long way, which knows what is wrong where, and how to rename.
 */
export function smallBody(kind: KindGrammar, bytes: Uint8Array): Small | undefined {
  let text: string;
  let members: unknown;
  try {
    text = decoder.decode(bytes);
    members = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(members)) return undefined;
  for (const own of OWN_MEMBERS) if (members[own] !== undefined) return undefined;
  for (const { name, rule } of kind.rules) if (!fits(rule, members[name])) return undefined;
  return { body: betweenBraces(bytes, hasBreaks(text)), facets: facetsOf(kind, members) };
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fits(rule: Rule, value: unknown): boolean {
  if (value === undefined || value === null) return !rule.required;
  if (typeof value === 'string') return rule.type !== 'strings';
  return rule.type !== 'string' && isStrings(value);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function facetsOf({ facets, sources }: KindGrammar, members: Members): Uint8Array {
  const found: Facet[] = [];
  for (const { name, filter, many } of sources) {
    const value = members[name];
    if (typeof value === 'string') found.push(facet(filter, value));
    else if (many && isStrings(value)) for (const said of value) found.push(facet(filter, said));
  }
  const joined = Buffer.allocUnsafe(facets.length + found.length * FACET_SIZE);
  joined.set(facets);
  for (const [index, each] of found.entries()) joined.set(each, facets.length + index * FACET_SIZE);
  return joined;
}

function betweenBraces(bytes: Uint8Array, breaks: boolean): Uint8Array {
  let from = 0;
  let to = bytes.length - 1;
  while (bytes[from] !== 0x7b) from++;
  while (bytes[to] !== 0x7d) to--;
  from++;
  while (from < to && (bytes[from] ?? 0) <= 0x20) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= 0x20) to--;
  const body = bytes.subarray(from, to);
  return breaks ? unbroken(body) : body;
}

function unbroken(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at++) copy[at] = Math.max(bytes[at] ?? 0, 0x20);
  return copy;
}

/** CR, LF and TAB can stand between tokens only. */
function hasBreaks(text: string): boolean {
  return text.includes('\n') || text.includes('\r') || text.includes('\t');
}
