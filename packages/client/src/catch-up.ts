/** Reads what concerns a visitor (PROTOCOL.md section 22). */
import type { CatchUpDocument } from '@open-presence/protocol';

import type { Connection, Signal } from './connection.ts';
import { PresenceError } from './presence-error.ts';

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
  if (identity === undefined)
    throw new TypeError('Catching up needs a name: the option "identity", here or of the Gateway.');
  const lists = ['concerns', 'seekers', 'more'];
  const request = { query: { identity, ...query }, signal, lists };
  const found = await connection.json<Partial<CatchUpDocument>>('/api/catch-up', request);
  if (isCatchUp(found)) return found;
  const message = 'The answer to /api/catch-up lacks members that it must have.';
  throw new PresenceError('unexpected-answer', message);
}

/** As far as a program relies on it without looking. */
function isCatchUp(found: Partial<CatchUpDocument>): found is CatchUpDocument {
  const { concerns = [], seekers = [], here, since, elsewhere } = found;
  return (
    Array.isArray(here) &&
    since !== undefined &&
    elsewhere !== undefined &&
    seekers.every(({ seeking }) => Array.isArray(seeking)) &&
    concerns.every(
      ({ id, text, room, root, why }) =>
        [id, text, room, root].every((one) => typeof one === 'string') && Array.isArray(why),
    )
  );
}
