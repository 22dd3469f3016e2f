/** Runs `presence withhold` and its like in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const COMMAND: string = join(import.meta.dirname, '../../packages/cli/presence.js');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function withhold(data: string, ...args: readonly string[]): Promise<Run> {
  return run('withhold', data, ...args);
}

export function run(
  command: 'withhold' | 'hide' | 'show' | 'read-only',
  data: string,
  ...args: readonly string[]
): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(
    process.execPath,
    [COMMAND, command, '--data', data, ...args],
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}
