/** Memory of a process with all its threads, as the kernel counts it. In bytes. */
import { readFileSync } from 'node:fs';

export interface Rss {
  /** All that is in memory, pages of files too. */
  readonly all: number;
  /** What belongs to no file. */
  readonly anonymous: number;
}

export function rssOf(pid: number): Rss {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { all: read('VmRSS'), anonymous: read('RssAnon') };
}

/** How much a process grew at most, while a piece of work was done, beyond where it began. */
export async function growthDuring<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly growth: Rss; readonly result: T }> {
  const before = rssOf(pid);
  let [all, anonymous] = [before.all, before.anonymous];
  const sample = (): void => {
    const now = rssOf(pid);
    all = Math.max(all, now.all);
    anonymous = Math.max(anonymous, now.anonymous);
  };
  const timer = setInterval(sample, 50);
  try {
    const result = await work();
    sample();
    return {
      growth: { all: all - before.all, anonymous: anonymous - before.anonymous },
      result,
    };
  } finally {
    clearInterval(timer);
  }
}
