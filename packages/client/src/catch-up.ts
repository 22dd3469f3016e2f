/** Reads what concerns a visitor (PROTOCOL.md section 22), and says what is told of who is here. */
import type { CatchUpDocument, LatelyDocument, PresentDocument } from '@open-presence/protocol';

import type { Connection, Signal } from './connection.ts';
import { PresenceError } from './presence-error.ts';

/** Who is here, and who wrote within the last hour (PROTOCOL.md section 13.3). */
export interface Presence {
  readonly here: readonly PresentDocument[];
  readonly lately: readonly LatelyDocument[];
  readonly head: number;
  readonly log: string;
}

export interface PresenceFilters extends Signal {
  readonly room?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
}

export interface CatchUpOptions extends Signal {
  /** Whom it is about: the gateway's `identity` by default. */
  readonly identity?: string | undefined;
  /** The `after` of the last answer. Without it, what the visitor has not answered. */
  readonly after?: number | undefined;
  /** Only what came before this entry: leads further back. */
  readonly before?: number | undefined;
  /** How many tokens the answer may have: 2,000 by default. */
  readonly budget?: number | undefined;
  /** How many seconds to wait until something new concerns the visitor. */
  readonly wait?: number | undefined;
}

export async function readCatchUp(
  connection: Connection,
  { identity, signal, ...query }: CatchUpOptions,
): Promise<CatchUpDocument> {
  if (identity === undefined) throw nameless();
  const lists = ['concerns', 'seekers', 'more'];
  const request = { query: { identity, ...query }, signal, lists };
  return await connection.json('/api/catch-up', request);
}

/** The same as Markdown, with the cursor and whether there is more, which its last lines say. */
export async function readCatchUpText(
  connection: Connection,
  { identity, signal, ...query }: CatchUpOptions,
): Promise<{ readonly text: string; readonly after: number; readonly next: boolean }> {
  if (identity === undefined) throw nameless();
  const headers = { Accept: 'text/markdown' };
  const request = { query: { identity, ...query }, headers, signal };
  const response = await connection.send('/api/catch-up', request);
  const text = await connection.text(response, { signal });
  const after = /^Come back with after=(\d+)/.exec(text.trimEnd().split('\n').at(-1) ?? '')?.[1];
  if (after === undefined) {
    const message = `The answer to /api/catch-up does not end with a cursor: ${text.slice(0, 200)}`;
    throw new PresenceError('unexpected-answer', message);
  }
  return { text, after: Number(after), next: /^Further back: GET/m.test(text) };
}

function nameless(): TypeError {
  return new TypeError('Catching up needs a name: the option "identity", here or of the Gateway.');
}
