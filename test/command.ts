/** Runs `presence` in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const COMMAND: string = join(import.meta.dirname, '../packages/cli/presence.js');

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function presence(...args: readonly string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(process.execPath, [COMMAND, ...args], (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

export function run(
  command: 'withhold' | 'hide' | 'show' | 'read-only',
  data: string,
  ...args: readonly string[]
): Promise<Ended> {
  return presence(command, '--data', data, ...args);
}

export function withhold(data: string, ...args: readonly string[]): Promise<Ended> {
  return run('withhold', data, ...args);
}
