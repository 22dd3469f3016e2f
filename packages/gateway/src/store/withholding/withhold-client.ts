/** Has entries withheld by another thread. */
import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { BodyDigest } from '../../log/packed-drafts.ts';
import type { Seq } from '../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isFileFault, largeChunks } from '../large/large-files.ts';
import { digestOf, sha256 } from '../log/chain.ts';
import type { EntryRow } from '../log/entry-row.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { CasesToList, WithholdFailure } from '../writer/writer-calls.ts';

const REFUSED: Readonly<Record<WithholdFailure, string>> = {
  'out-of-space': 'Nothing was changed: the disk is full.',
  unavailable: 'Nothing was changed: the log cannot be written.',
};
const CLOSED = 'The log was closed before everything was erased. The next start goes on with it.';
/** Entries that are read together. */
const WINDOW = 256;

interface StoredEntries {
  readonly paths: DataPaths;
  readonly log: RowReader;
}

/** Undefined where the log closes first. */
type Withhold = (cases: readonly CasesToList[]) => Promise<number | WithholdFailure | undefined>;

/** See `Log.withhold`. `stored`: undefined where the other thread finds the digests. */
export async function withholdEntries(
  all: readonly Omit<CasesToList, 'digests'>[],
  stored: StoredEntries | undefined,
  withhold: Withhold,
): Promise<number> {
  const result = await withhold(
    stored === undefined
      ? all.map((cases) => ({ ...cases, digests: [] }))
      : await withDigests(all, stored),
  );
  if (result === undefined) throw new GatewayError('unavailable', CLOSED);
  if (typeof result === 'string') throw new GatewayError(result, REFUSED[result]);
  return result;
}

/** With the digests that the rows will not tell any more. */
export async function withDigests(
  all: readonly Omit<CasesToList, 'digests'>[],
  stored: StoredEntries,
): Promise<CasesToList[]> {
  const takeTurn = yieldPeriodically();
  const cases: CasesToList[] = [];
  for (const { seqs, state, ...one } of all) {
    const digests: string[] = [];
    const large = state === 'withheld' ? undefined : new Set(stored.log.withLarge(0, Infinity));
    for (let at = 0; at < seqs.length; at += WINDOW) {
      const some = seqs.slice(at, at + WINDOW);
      const wanted = large === undefined ? some : some.filter((seq) => large.has(seq));
      const rows = wanted.length === 0 ? [] : stored.log.storedRows(wanted);
      const found = new Map<Seq, string>();
      for (const row of rows) found.set(row.seq, await linkedDigest(row, stored.paths));
      digests.push(...some.map((seq) => found.get(seq) ?? ''));
      await takeTurn();
    }
    cases.push({ ...one, state, seqs, digests });
  }
  return cases;
}

/** In hex; empty where it is known already, or nothing can be known of it. */
async function linkedDigest(row: EntryRow, paths: DataPaths): Promise<string> {
  const { large, head, salt, text } = row;
  if (row.isErased) return '';
  if (large === undefined) return hexOf(digestOf(salt, sha256(text.subarray(head + 1, -1))));
  const body = new BodyDigest();
  try {
    for await (const chunk of largeChunks(paths, large)) body.add(chunk);
  } catch (error) {
    // Nothing but a wrong digest is known then.
    if (!isFileFault(error)) throw error;
  }
  return hexOf(digestOf(salt, body.digest()));
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
