import type { Entry, Log } from '../log/log.ts';

/** Part of tags: changes when earlier entries are read differently. Empty if none was damaged or withheld. */
export function readVersion(log: Pick<Log, 'damage' | 'withheld'>): string {
  const { version } = log.damage();
  const withheld = log.withheld();
  const damaged = version === 0 ? '' : `-damage${version}`;
  return withheld === 0 ? damaged : `${damaged}-withheld${withheld}`;
}

/** The same for one entry. */
export function entryVersion({ unreadable, withheld }: Entry): string {
  if (unreadable === true) return '-unreadable';
  return withheld === undefined ? '' : '-withheld';
}
