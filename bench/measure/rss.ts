/** Resident memory of a process in bytes, from /proc. */
import { readFileSync } from 'node:fs';

export interface Rss {
  /** Including pages of files. */
  readonly all: number;
  /** Without pages of files. */
  readonly anonymous: number;
}

export function rssOf(pid: number): Rss {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { all: read('VmRSS'), anonymous: read('RssAnon') };
}

/** The greatest growth of a process during the work. */
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
