import { readdir, readFile } from 'node:fs/promises';

/** Descriptors reserved for files of large bodies and long reads; a quarter where there are few. */
const RESERVED = 1024;

/** How many connections the descriptors allow: Node has raised the soft limit. Infinity where there is no `/proc`. */
export async function connectionLimit(): Promise<number> {
  try {
    const limits = await readFile('/proc/self/limits', 'latin1');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
    const { length: open } = await readdir('/proc/self/fd');
    return Math.max(1, limit - open - Math.min(RESERVED, Math.floor(limit / 4)));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
