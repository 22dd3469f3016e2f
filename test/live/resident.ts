/** The memory of a process, as the system counts it. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:process';

/** Bytes that are resident. */
export async function residentOf(pid: number): Promise<number> {
  if (platform !== 'linux')
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
