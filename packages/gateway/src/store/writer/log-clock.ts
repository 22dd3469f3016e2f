/**
 * Entries get the time of the machine's clock, or that of the newest entry if the clock is behind it.
 *
 * Invariant: Times never decrease along seq, and go on after the clock was set back. A start asks
 *   the operator if the clock is far ahead.
 * Test: `test/log-contract/appending.ts` “gives times that never go backwards, even when the clock
 *   is set back”
 * Test: `test/crash/clock.test.ts` “a clock that is years ahead at the start is asked about once, and
 *   entries go on once it is right again”
 */
import { readMeta } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { flushWal, openLogForWriting, openLogIfExists } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Longer than a gateway usually rests. A wrong clock is rarely wrong by less: a dead battery means decades. */
const MAX_AHEAD_MS = 365 * DAY_MS;

/** Set if the clock is far ahead of the newest entry, and of the time that was accepted last. */
export function clockFault(paths: DataPaths): string | undefined {
  using db = openLogIfExists(paths);
  const newest = db && new RowReader(db).last()?.time;
  if (db === undefined || newest === undefined) return undefined;
  const now = Date.now();
  const ahead = now - Math.max(newest, Number(readMeta(db, 'acceptedClock') ?? 0));
  if (ahead <= MAX_AHEAD_MS) return undefined;
  const [clock, entry] = [now, newest].map((time) => new Date(time).toISOString());
  return `The clock says ${clock}, ${Math.floor(ahead / DAY_MS)} days after the newest entry (${entry}). Is it right? See "date". Nothing has been changed. If the clock is wrong, set it: no entry after one of that time could have an earlier time. If it is right, run once: presence accept clock --data "${paths.folder}"`;
}

/** The next starts do not ask about this time. */
export function acceptClock(paths: DataPaths): void {
  using db = openLogForWriting(paths);
  flushWal(db);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('acceptedClock', ?)").run(Date.now());
}
