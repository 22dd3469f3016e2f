/**
 * How many connections the descriptors of the process are enough for. Node raises its limit as far
 * as it may when it starts; what remains is shared out here.
 */
import { readdir, readFile } from 'node:fs/promises';

/** Kept for the store: files of large bodies and of long readings. A quarter where there are few. */
const KEPT = 1024;

/** Infinity where the system doesn't tell. */
export async function connectionLimit(): Promise<number> {
  try {
    const limits = await readFile('/proc/self/limits', 'latin1');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
    const { length: open } = await readdir('/proc/self/fd');
    return Math.max(1, limit - open - Math.min(KEPT, Math.floor(limit / 4)));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
