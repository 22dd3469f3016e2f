/** The clock of a process, which a test sets (libfaketime). Clocks that only go forward stay right. */
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

const LIBRARY = '/usr/lib/*/faketime/libfaketimeMT.so.1';

export interface Clock {
  /** Put before a command, it has this clock. */
  readonly under: readonly string[];
  /** How far it is ahead from now on, give or take a second. */
  set(seconds: number): Promise<void>;
}

/** `file`: for how far it is ahead. */
export async function makeClock(file: string): Promise<Clock> {
  const [library] = globSync(LIBRARY);
  if (library === undefined) throw new Error('Cannot set clocks: libfaketime is missing.');
  const set = (seconds: number): Promise<void> =>
    writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  await set(0);
  const variables = [
    `LD_PRELOAD=${library}`,
    `FAKETIME_TIMESTAMP_FILE=${file}`,
    'FAKETIME_CACHE_DURATION=1',
    'FAKETIME_DONT_FAKE_MONOTONIC=1',
  ];
  return { under: ['env', ...variables], set };
}
