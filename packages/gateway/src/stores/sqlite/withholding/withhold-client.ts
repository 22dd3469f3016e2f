/** Has entries withheld by another thread. */
import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { BodyDigest } from '../../../log/packed-drafts.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable } from '../database.ts';
import { isFileFault, largeChunks } from '../large/large-files.ts';
import { digestOf, sha256 } from '../log/chain.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { ItemToWithhold, WithholdFailure } from '../writer/writer-calls.ts';

const REFUSED: Readonly<Record<WithholdFailure, string>> = {
  'out-of-space': 'Nothing was changed: the disk is full.',
  unavailable: 'Nothing was changed: the log cannot be written.',
};
const CLOSED = 'The log was closed before everything was erased. The next start goes on with it.';

/** Undefined where the log closes first. */
type Withhold = (items: readonly ItemToWithhold[]) => Promise<number | WithholdFailure | undefined>;

interface StoredEntries {
  readonly paths: DataPaths;
  readonly log: RowReader;
}

/** See `Log.withhold`. */
export async function withholdEntries(
  entries: readonly Omit<ItemToWithhold, 'digest'>[],
  stored: StoredEntries,
  withhold: Withhold,
): Promise<number> {
  const items: ItemToWithhold[] = [];
  const takeTurn = yieldPeriodically();
  for (const entry of entries) {
    const digest = await linkedDigest(entry.seq, stored);
    if (digest !== undefined) items.push({ ...entry, digest });
    await takeTurn();
  }
  const result = await withhold(items);
  if (result === undefined) throw new GatewayError('unavailable', CLOSED);
  if (typeof result === 'string') throw new GatewayError(result, REFUSED[result]);
  return result;
}

/** Undefined if there is no such entry; empty if its row is malformed. */
async function linkedDigest(
  seq: Seq,
  { paths, log }: StoredEntries,
): Promise<Uint8Array | undefined> {
  const found = readable(() => [log.entry(seq)]);
  if (found === undefined) return new Uint8Array();
  const [row] = found;
  if (row === undefined || row.digest !== undefined) return row?.digest;
  const { large, head, salt, text } = row;
  if (large === undefined) return digestOf(salt, sha256(text.subarray(head + 1, -1)));
  const body = new BodyDigest();
  try {
    for await (const chunk of largeChunks(paths, large)) body.add(chunk);
  } catch (error) {
    // Nothing but a wrong digest is known then.
    if (!isFileFault(error)) throw error;
  }
  return digestOf(salt, body.digest());
}
