/** Backups and restores for tests. */
import { execFile } from 'node:child_process';

import { backUpLog, type BackupReport } from '@open-presence/gateway';
import { restoreLog, type RestoreOptions, type RestoreReport } from '@open-presence/gateway';
import type { VerifyEvent } from '@open-presence/gateway';

import { COMMAND } from '../command.ts';

export interface Finished<Report> {
  readonly report: Report;
  /** What was said of entries. */
  readonly faults: readonly string[];
}

export async function backUp(data: string, folder: string): Promise<Finished<BackupReport>> {
  return await finish(backUpLog(data, folder));
}

export async function restore(
  backup: string,
  data: string,
  options: RestoreOptions = {},
): Promise<Finished<RestoreReport>> {
  return await finish(restoreLog(backup, data, options));
}

async function finish<Report>(
  events: AsyncGenerator<VerifyEvent, Report>,
): Promise<Finished<Report>> {
  const faults: string[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done === true) return { report: step.value, faults };
    const event = step.value;
    if (event.type === 'fault') faults.push(`${event.seq}: ${event.description}`);
  }
}

interface Ended {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Killing {
  readonly afterMs?: number;
}

/** The command in a process of its own, which is killed if it does not end in time. */
export function presence(
  args: readonly string[],
  { afterMs = 60_000 }: Killing = {},
): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(process.execPath, [COMMAND, ...args], (_, stdout, stderr) => {
    clearTimeout(timer);
    resolve({ code: child.exitCode, stdout, stderr });
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  return promise;
}
