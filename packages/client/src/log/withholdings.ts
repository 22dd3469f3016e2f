/** Reads what a gateway has withheld (PROTOCOL.md section 4.7). */
import type { Connection, Signal } from '../connection.ts';
import { readLines, SHORT } from '../lines.ts';
import { parseJson } from '../listing.ts';
import { PresenceError } from '../presence-error.ts';

/** One removal of an entry's text, or its return. */
export interface Withholding {
  /** Position in the gateway's list, from 1: a cursor. */
  readonly number: number;
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly room: string;
  /** When the entry was stored (RFC 3339), as `at` is when it was withheld. */
  readonly timestamp: string;
  readonly at: string;
  readonly reason: string;
  /** `withheld`: it is destroyed. `hidden`: whoever runs the gateway keeps it. `shown`: it is there again. */
  readonly state?: 'withheld' | 'hidden' | 'shown';
}

/** Consecutive cases, by their numbers, as event streams tell them (PROTOCOL.md section 12.6). */
export interface Cases {
  readonly first: number;
  readonly last: number;
  /** The state that all of them have; undefined where it is unknown. */
  readonly state?: 'withheld' | 'hidden' | 'shown';
}

export interface WithholdingsOptions extends Signal {
  /** A number: begins after this one. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export async function* readWithholdings(
  connection: Connection,
  { after = 0, limit, signal }: WithholdingsOptions,
): AsyncGenerator<Withholding, void> {
  const query = { order: 'oldest', after, limit };
  const headers = { Accept: 'application/x-ndjson' };
  const response = await connection.send('/api/withheld', { query, headers, signal });
  for await (const { text } of readLines(connection.bytes(response, signal), SHORT))
    if (text !== '') yield parseWithholding(text);
}

export function parseCases(text: string): Cases {
  const found = parseJson(text) as Partial<Cases> | null;
  if (Number.isSafeInteger(found?.first) && Number.isSafeInteger(found?.last))
    return found as Cases;
  const message = `The stream has cases without their numbers: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message);
}

function parseWithholding(text: string): Withholding {
  try {
    const found = JSON.parse(text) as Withholding | null;
    const isWhole =
      Number.isSafeInteger(found?.number) &&
      Number.isSafeInteger(found?.seq) &&
      typeof found?.reason === 'string' &&
      !Number.isNaN(Date.parse(found.at));
    if (isWhole) return found;
  } catch {
    // The error below says so.
  }
  const message = `The answer has a line that is no withholding: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message);
}
