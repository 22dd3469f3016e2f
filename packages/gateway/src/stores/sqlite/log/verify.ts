/**
 * Verifies a log from its first entry to its last: reports every entry that has changed since it was
 * stored, or is missing.
 *
 * Of the indexes it reads only how far the log was; `verify-derived.ts` verifies them. Changes
 * nothing, although SQLite may leave empty WAL files beside the log. Memory is bounded, and a gateway may run meanwhile: each page of
 * entries is a transaction of its own, up to the entry that was the newest at the start.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';

import type { Seq } from '../../../log/log.ts';
import { dataPathsIn } from '../data-paths.ts';
import { readMeta } from '../database.ts';
import { ChainVerifier, type LogFault } from './chain-verifier.ts';
import { ENTRY_COLUMNS, openLogForReading } from './log-database.ts';
import { findLostHistory } from './lost-history.ts';
import { verifyKeys } from './verify-keys.ts';

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
  /** The id of the log. */
  readonly name: string;
  readonly entries: number;
  /** Bytes of their texts. */
  readonly bytes: number;
  readonly faults: number;
  /** The link of the last entry, in hex. Keep it to check later that the log is the same. */
  readonly link: string;
}

const PAGE_ROWS = 64;

/**
 * Yields faults as they are found, and the progress after each page. Throws when the folder has no
 * log that this program can read, and when aborted.
 */
export async function* verifyLog(
  folder: string,
  signal?: AbortSignal,
): AsyncGenerator<VerifyEvent, VerifyResult, undefined> {
  const paths = dataPathsIn(folder);
  const history = findLostHistory(paths);
  if (history !== undefined && history.end === undefined)
    throw new Error(`The log ${history.findings.join(', and ')}.`);
  const db = openLogForReading(paths);
  try {
    const findings = history?.findings ?? [];
    for (const description of findings) yield { type: 'fault', seq: undefined, description };
    const verifier = new ChainVerifier(paths);
    const head = Number(
      db.prepare('SELECT coalesce(max(seq), 0) AS head FROM entries').get()?.['head'],
    );
    let faults = findings.length;
    for await (const event of verifyEvents(db, { verifier, head, signal })) {
      if (event.type === 'fault') faults += 1;
      yield event;
    }
    const { entries, bytes } = verifier;
    const link = Buffer.from(verifier.link).toString('hex');
    return { name: String(readMeta(db, 'name')), entries, bytes, faults, link };
  } finally {
    db.close();
  }
}

interface VerifyTask {
  readonly verifier: ChainVerifier;
  readonly head: Seq;
  readonly signal: AbortSignal | undefined;
}

async function* verifyEvents(db: DatabaseSync, task: VerifyTask): AsyncGenerator<VerifyEvent> {
  const { verifier, head, signal } = task;
  try {
    yield* verifyEntries(db, task);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const description = `cannot be read (${error.message}); neither it nor what comes after it was verified`;
    yield { type: 'fault', seq: verifier.next, description };
  }
  try {
    for (const faults of verifyKeys(db, head)) {
      for (const { seq, description } of faults) yield { type: 'fault', seq, description };
      await nextTick(undefined, { signal });
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    const description = `the idempotency keys cannot be read (${error.message})`;
    yield { type: 'fault', seq: undefined, description };
  }
}

function isDamage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

async function* verifyEntries(db: DatabaseSync, task: VerifyTask): AsyncGenerator<VerifyEvent> {
  const { verifier, head, signal } = task;
  const page = db.prepare(
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
  );
  page.setReadBigInts(true);
  for (let at = Number.MIN_SAFE_INTEGER; ;) {
    const rows = page.all(at, head, PAGE_ROWS);
    for (const row of rows) {
      for (const fault of await verifier.verify(row, signal)) yield { type: 'fault', ...fault };
      at = Number(row['seq']);
    }
    const { entries, bytes } = verifier;
    yield { type: 'progress', entries, bytes, at: Math.max(at, 0), head };
    if (rows.length < PAGE_ROWS) return;
    await nextTick(undefined, { signal });
  }
}
