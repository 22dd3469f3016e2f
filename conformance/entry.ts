/** Entries and listings as they are spelled on the wire (PROTOCOL.md sections 4.1 and 8.1). */
import assert from 'node:assert/strict';

import { asObject, asArray, parseJson, asString, asInteger, type JsonObject } from './value.ts';

export const KINDS = ['resonance', 'garden', 'seeds', 'shepit'] as const;
export type Kind = (typeof KINDS)[number];

export interface Entry {
  /** The whole entry, as spelled. */
  readonly text: string;
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly room: string;
  readonly timestamp: string;
  /** The visitor's members, as spelled: what stands between the own members and the last brace. */
  readonly body: string;
  /** The entry as an object. */
  readonly fields: JsonObject;
  /** Where the entry is read. */
  readonly path: string;
}

const OWN = /^\{"id":"([^"]*)","seq":(\d+),"kind":"([^"]*)","room":"([^"]*)","timestamp":"([^"]*)"/;

export function entryOf(json: string): Entry {
  return parsedEntry(json, parseJson(json));
}

/** `entryOf`, where the text has been parsed already. */
export function parsedEntry(json: string, value: unknown): Entry {
  const match = OWN.exec(json);
  assert.ok(match, `an entry begins with its own members, in order: ${json.slice(0, 200)}`);
  const [own, id = '', seq = '', kind = '', room = '', timestamp = ''] = match;
  assert.ok(json.endsWith('}'), 'an entry ends with its brace');
  const fields = asObject(value);
  assert.equal(fields['id'], id, 'a text says one entry');
  return {
    text: json,
    id,
    seq: Number(seq),
    kind,
    room,
    timestamp,
    body: json.slice(own.length, -1).replace(/^,/, ''),
    fields,
    path: `/api/entries/${id}`,
  };
}

export interface Listing {
  readonly entries: readonly Entry[];
  readonly head: number;
  /** The name of the log. */
  readonly log: string;
  readonly next: string | null;
  /** The listing as an object. */
  readonly fields: JsonObject;
}

/** A listing in the one spelling that section 8.1 shows, with what the text parses to. */
export function listingOf(json: string, value: unknown): Listing {
  const listing = asObject(value);
  const { head, log, next } = listing;
  const values = asArray(listing['entries']);
  const entries = linesOf(json, values.length).map((line, at) => parsedEntry(line, values[at]));
  return {
    entries,
    head: asInteger(head),
    log: asString(log),
    next: next === null ? null : asString(next),
    fields: listing,
  };
}

function linesOf(json: string, count: number): string[] {
  if (count === 0) return [];
  const lines = json.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /^\{("room":\{.*\},)?("notes":\[.*\],)?"entries":\[$/);
  assert.match(lines.at(-1) ?? '', /^\],"head":\d+,"log":"[^"]+","next":(null|".*")\}$/);
  const middle = lines.slice(1, -1);
  assert.equal(middle.length, count, 'each entry of a listing is one line');
  return middle.map((line, at) => {
    if (at === count - 1) return line;
    assert.ok(line.endsWith(','), 'lines of a listing are joined by a comma and LF');
    return line.slice(0, -1);
  });
}
