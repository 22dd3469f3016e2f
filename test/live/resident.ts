/** The memory of a process, as the system counts it. */
import { readFile } from 'node:fs/promises';

/** Bytes that are resident. */
export async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
