/** Asks about a clock that is far ahead: times never go back, so all later entries would have its time. */
import { statSync } from 'node:fs';

import type { DataPaths } from '../data-paths.ts';
import { RowReader } from '../log/row-reader.ts';
import { openLogIfExists } from '../log/log-database.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Longer than a gateway rests. A clock that is wrong is rarely wrong by less: a lost battery is decades. */
const MAX_AHEAD_MS = 365 * DAY_MS;

/** Throws if the clock is far ahead of the newest entry and of all files that tell the time. */
export function checkClock(paths: DataPaths): void {
  const newest = newestTime(paths);
  if (newest === undefined) return;
  const now = Date.now();
  // Not those that a start writes: it would be believed when it is repeated.
  const files = [paths.log, paths.lastCommit, paths.segments, import.meta.filename];
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const newestFile = Math.max(...times);
  if (now - Math.max(newest, newestFile) <= MAX_AHEAD_MS) return;
  const [clock, entry, file] = [now, newest, newestFile].map((time) =>
    new Date(time).toISOString(),
  );
  const days = Math.floor((now - Math.max(newest, newestFile)) / DAY_MS);
  throw new Error(
    `The clock says ${clock}, ${days} days after the newest entry (${entry}) and the newest file of the gateway (${file}). Is it right? See "date". Nothing has been changed. If the clock is wrong, set it: no entry after one of that time could have an earlier time. If it is right, start once with --accept-clock.`,
  );
}

function newestTime(paths: DataPaths): number | undefined {
  const db = openLogIfExists(paths);
  if (db === undefined) return undefined;
  try {
    return new RowReader(db).last()?.time;
  } finally {
    db.close();
  }
}
