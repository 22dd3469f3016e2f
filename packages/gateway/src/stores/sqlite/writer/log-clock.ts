/**
 * The clock by which entries get their times. It is the clock of the machine, unless that is behind
 * the newest entry: then it goes on from there at the pace of the monotonic clock, since times never
 * go backwards along seq.
 *
 * Invariant: Times never decrease along seq, and go on after the clock was set back. A start asks
 *   the operator if the clock is far ahead.
 * Test: `test/log-contract/appending.ts` “gives times that never go backwards, even when the clock
 *   is set back”
 * Test: `test/crash/clock.test.ts` “a clock that is years ahead at the start is asked about, and
 *   entries go on once it is right again”
 */
import { statSync } from 'node:fs';

import type { DataPaths } from '../data-paths.ts';
import { openLogIfExists } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import type { ClockReport } from '../store-thread.ts';

/** A clock that was set back is caught up slowly: one second in 100. */
const CATCH_UP_PACE = 0.99;
/** Smaller steps are corrections by NTP. */
const JUMP_MS = 5000;

export class LogClock {
  readonly #onReport: (report: ClockReport) => void;
  #time: number;
  #wall: number = Date.now();
  #monotonic: number = performance.now();

  /** `newest`: the time of the newest entry. Reports jumps, and a start before that time. */
  constructor(newest: number, onReport: (report: ClockReport) => void) {
    this.#onReport = onReport;
    this.#time = Math.max(newest, this.#wall);
    if (this.ahead >= JUMP_MS) onReport({ jump: 0, ahead: this.ahead });
  }

  /** How many ms it is ahead of the machine's clock, as of the last call of `now`. */
  get ahead(): number {
    return Math.floor(this.#time) - this.#wall;
  }

  /** Milliseconds since 1970, never less than before. `newest`: the time of the newest entry, which a copy has from elsewhere. */
  now(newest: number): number {
    const wall = Date.now();
    const monotonic = performance.now();
    const elapsed = monotonic - this.#monotonic;
    const jump = Math.round(wall - this.#wall - elapsed);
    this.#time = Math.max(wall, newest, this.#time + elapsed * CATCH_UP_PACE);
    this.#wall = wall;
    this.#monotonic = monotonic;
    if (Math.abs(jump) >= JUMP_MS) this.#onReport({ jump, ahead: this.ahead });
    return Math.floor(this.#time);
  }
}

const DAY_MS = 24 * 60 * 60_000;
/** Longer than a gateway usually rests. A wrong clock is rarely wrong by less: a dead battery means decades. */
const MAX_AHEAD_MS = 365 * DAY_MS;

/** Throws if the clock is far ahead of the newest entry and of every file's time. */
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
  using db = openLogIfExists(paths);
  return db && new RowReader(db).last()?.time;
}
