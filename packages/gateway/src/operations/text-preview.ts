/** The texts that feeds and pages show of a large entry, read from its start and its end. */
import { entryHead, FILTER_MEMBERS, visitorName } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import type { JsonObject } from '../json/json-object.ts';
import { lastMembers, MemberPreview } from '../json/member-preview.ts';
import { JsonScanner } from '../json/scanner.ts';
import type { Entry } from '../log/log.ts';

/** Bytes that are read of the start of an entry. */
const START_SIZE = 1024 * 1024;
/** Bytes that are read of the end: the author often stands after a long text. */
const END_SIZE = 64 * 1024;

const AUTHOR: readonly string[] = FILTER_MEMBERS.identity;

/**
 * Of these members and the author's: strings and lists of strings near the start of a large entry, each string cut
 * to `maxLength`, and all near its end.
 */
export async function previewOf(
  entry: Entry,
  names: readonly string[],
  maxLength: number,
): Promise<JsonObject> {
  const wanted = new Set([...names, ...AUTHOR]);
  const last = new Map(
    Object.entries(await lastMembersOf(entry)).filter(([name]) => wanted.has(name)),
  );
  const preview = new MemberPreview(wanted, maxLength);
  const scanner = new JsonScanner(preview);
  const has = (name: string): boolean => last.has(name) || preview.has(name);
  const takeTurn = yieldPeriodically();
  let size = 0;
  for await (const chunk of entry.chunks()) {
    scanner.feed(chunk);
    size += chunk.length;
    if (size >= START_SIZE || (AUTHOR.some(has) && names.every(has))) break;
    await takeTurn();
  }
  return Object.fromEntries([...preview.read(), ...last]);
}

/** The JSON text of the visitor's members, as they were sent: its first characters, at most this many. */
export async function startOfMembers(entry: Entry, maxLength: number): Promise<string> {
  const decoder = new TextDecoder();
  // A comma comes after the gateway's members.
  const from = Buffer.byteLength(entryHead(entry.metadata)) + 1;
  let text = '{';
  for await (const chunk of entry.chunks(from)) {
    text += decoder.decode(chunk.subarray(0, 4 * maxLength), { stream: true });
    if (text.length >= maxLength) break;
  }
  return text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
}

async function lastMembersOf(entry: Entry): Promise<JsonObject> {
  const from = Math.max(0, entry.size - END_SIZE);
  const chunks = await Array.fromAsync(entry.chunks(from), (chunk) => Buffer.from(chunk));
  return lastMembers(Buffer.concat(chunks));
}

/** The names that an entry gives to its author. */
export function authorsIn(members: JsonObject): string[] {
  return AUTHOR.map((name) => visitorName(members[name])).filter((name) => name !== undefined);
}

/** The first of them. */
export function authorIn(members: JsonObject): string | undefined {
  return authorsIn(members)[0];
}
