import type { Entry, Log } from '../log/log.ts';

/** Part of tags: changes when earlier entries are read differently. Empty if none was withheld. */
export function readVersion(log: Pick<Log, 'withheld'>): string {
  const withheld = log.withheld();
  return withheld === 0 ? '' : `-withheld${withheld}`;
}

/** The same for one entry. */
export function entryVersion({ withheld }: Entry): string {
  return withheld === undefined ? '' : '-withheld';
}
