/**
 * Verifies a log from its first entry to its last: reports every entry that has changed since it was
 * stored, cannot be read, or is missing.
 *
 * Of the index it reads only how far the log was; `index/verify-index.ts` verifies it. Changes
 * nothing, although SQLite may leave empty WAL files beside the log. Memory is bounded, and a gateway
 * may run meanwhile: some entries at a time are a transaction of their own, up to the entry that was
 * the newest at the start.
 *
 * Invariant: Verification finds any changed byte of the log.
 * Test: `packages/gateway/src/store/log/verify.test.ts` “finds any changed byte of a
 *   text” “tells every fault, and goes on after each” “finds any changed bit of the idempotency key
 *   of an entry, and an entry that its key does not find” “finds any changed bit of what no link covers: flags,
 *   facets, and the name and size of a file”
 */
import { existsSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';

import type { Seq } from '../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readable, readMeta, readPragma } from '../database.ts';
import { ChainVerifier, type LogFault } from './chain-verifier.ts';
import { RowReader } from './row-reader.ts';
import { LOG_FORMAT, openLogForReading } from './log-database.ts';
import { keyIn } from './chain.ts';
import type { EntryRow } from './entry-row.ts';
import { lossIn } from '../writer/last-commit.ts';

export type VerifyEvent =
  | ({ readonly type: 'fault' } & LogFault)
  /** Entries and bytes read so far, up to the seq `at` of `head`. */
  | {
      readonly type: 'progress';
      readonly entries: number;
      readonly bytes: number;
      readonly at: Seq;
      readonly head: Seq;
    };

export interface VerifyResult {
  readonly name: string;
  readonly entries: number;
  /** Bytes of their texts. */
  readonly bytes: number;
  readonly faults: number;
  readonly withheld: number;
  /** The link of the last entry, in hex. Keep it to check later that the log is the same. */
  readonly link: string;
}

const PAGE_ENTRIES = 64;

/** The link does not cover these. */
const OTHER_FACETS = 'has other facets, flags or file than were stored';
const UNFOUND = 'is not found by its idempotency key';

/** Yields faults as they are found, and progress. Throws when there is no log that can be read, and when aborted. */
export async function* verifyLog(
  folder: string,
  signal?: AbortSignal,
): AsyncGenerator<VerifyEvent, VerifyResult, undefined> {
  const paths = dataPathsIn(folder);
  const loss = lossIn(paths);
  if (loss !== undefined && !existsSync(paths.log)) throw new Error(`The log ${loss}.`);
  const findings = loss === undefined ? [] : [loss];
  for (const description of findings) yield { type: 'fault', seq: undefined, description };
  using db = openLogForReading(paths);
  const verifier = new ChainVerifier(paths);
  const head = new RowReader(db).lastSeq();
  let faults = findings.length;
  // The first start with this version makes the index of keys.
  const checksKeys = readPragma(db, 'user_version') === LOG_FORMAT;
  const task = { paths, verifier, head, signal, checksKeys };
  for await (const event of verifyEntries(new RowReader(db), task)) {
    if (event.type === 'fault') faults += 1;
    yield event;
  }
  const { entries, bytes, withheld } = verifier;
  const link = Buffer.from(verifier.link).toString('hex');
  return { name: String(readMeta(db, 'name')), entries, bytes, faults, withheld, link };
}

interface VerifyTask {
  readonly paths: DataPaths;
  readonly verifier: ChainVerifier;
  readonly head: Seq;
  readonly signal: AbortSignal | undefined;
  readonly checksKeys?: boolean;
}

/** From the next entry of the verifier to the head. */
async function* verifyEntries(
  log: RowReader,
  { verifier, head, signal, checksKeys = false }: VerifyTask,
): AsyncGenerator<VerifyEvent> {
  const progress = (at: Seq): VerifyEvent => {
    const { entries, bytes } = verifier;
    return { type: 'progress', entries, bytes, at, head };
  };
  for (const row of log.rowsAndSpoiled({ from: verifier.next, to: head })) {
    const { seq } = row;
    if ('error' in row) {
      verifier.skip(seq);
      yield { type: 'fault', seq, description: `cannot be read (${row.error.message})` };
    } else {
      const faults = await verifier.verify(row, signal);
      for (const fault of faults) yield { type: 'fault', ...fault };
      if (faults.length === 0 && !row.isWhole)
        yield { type: 'fault', seq, description: OTHER_FACETS };
      if (checksKeys && !isFound(log, row)) yield { type: 'fault', seq, description: UNFOUND };
    }
    // A large entry takes long.
    if (seq % PAGE_ENTRIES > 0 && ('error' in row || row.large === undefined)) continue;
    yield progress(seq);
    await nextTick(undefined, { signal });
  }
  yield progress(head);
}

function isFound(log: RowReader, { seq, key }: EntryRow): boolean {
  return key === undefined || readable(() => log.seqsOfKey(keyIn(key)).includes(seq)) === true;
}
