/** Which backups are kept: the newest ones, and the newest one of each of the last hours, days, … */
import { timeOfBackup } from './backup-folder.ts';

/** How many of each; 0 where the rule says nothing of them. */
export interface Retention {
  readonly newest: number;
  readonly hours: number;
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

type Period = Exclude<keyof Retention, 'newest'>;

const UNITS: Readonly<Record<string, keyof Retention>> = {
  '': 'newest',
  h: 'hours',
  d: 'days',
  w: 'weeks',
  m: 'months',
};

const DAY_MS = 24 * 60 * 60_000;
/** 1970-01-01 was a Thursday. */
const FIRST_MONDAY = 4;

/** Which period a time is in, in UTC. Weeks begin on Monday. */
const PERIODS: Readonly<Record<Period, (time: number) => string>> = {
  hours: (time) => new Date(time).toISOString().slice(0, 13),
  days: (time) => new Date(time).toISOString().slice(0, 10),
  weeks: (time) => String(Math.floor((time / DAY_MS - FIRST_MONDAY) / 7)),
  months: (time) => new Date(time).toISOString().slice(0, 7),
};

/** `7`, or `3,24h,7d,4w,12m`. Undefined where it is neither, or keeps nothing. */
export function parseRetention(text: string): Retention | undefined {
  const counts = { newest: 0, hours: 0, days: 0, weeks: 0, months: 0 };
  for (const part of text.split(',')) {
    const [, count, unit = ''] = /^\s*([1-9]\d{0,5})([hdwm]?)\s*$/.exec(part) ?? [];
    const name = UNITS[unit];
    if (count === undefined || name === undefined) return undefined;
    counts[name] = Number(count);
  }
  return counts;
}

/** Those of these backups that are kept. Periods without a backup do not count. */
export function retained(backups: readonly string[], retention: Retention): Set<string> {
  const newestFirst = backups.toSorted().toReversed();
  const kept = new Set(newestFirst.slice(0, retention.newest));
  for (const [name, periodOf] of Object.entries(PERIODS)) {
    const newest = new Map<string, string>();
    for (const backup of newestFirst) {
      const period = periodOf(timeOfBackup(backup));
      if (!newest.has(period)) newest.set(period, backup);
    }
    const count = retention[name as Period];
    for (const backup of [...newest.values()].slice(0, count)) kept.add(backup);
  }
  return kept;
}
