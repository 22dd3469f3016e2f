/**
 * The processes that a run starts. Each is ended by its process id when its owner is disposed, at
 * the latest at the end of the run.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';

/** A gateway drains its streams first. After this it is killed. */
const EXIT_TIMEOUT_MS = 20_000;

const live = new Set<ChildProcess>();

/** Sends SIGTERM to every process of this run. */
export function terminateAll(): void {
  // nginx stops its workers on SIGTERM only.
  for (const child of live) child.kill('SIGTERM');
}
process.on('exit', terminateAll);

export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Exit code or signal; undefined while it runs. */
  exitStatus(): string | undefined;
}

export async function startProcess(
  bench: BenchContext,
  command: readonly string[],
  stdio: StdioOptions,
): Promise<Child> {
  bench.signal.throwIfAborted();
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio });
  await once(child, 'spawn');
  live.add(child);
  child.once('exit', () => live.delete(child));
  const ended = (): string | undefined =>
    child.exitCode === null && child.signalCode === null
      ? undefined
      : `${child.exitCode ?? child.signalCode}`;
  return {
    pid: child.pid ?? 0,
    process: child,
    exitStatus: ended,
    async [Symbol.asyncDispose]() {
      if (ended() !== undefined) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const done = new AbortController();
      const late = sleep(EXIT_TIMEOUT_MS, true, { signal: done.signal }).catch(() => false);
      if ((await Promise.race([exit, late])) === true) child.kill('SIGKILL');
      done.abort();
      await exit;
    },
  };
}

/** Resolves with the standard output. Rejects unless the exit code is 0. */
export async function runCommand(bench: BenchContext, command: readonly string[]): Promise<string> {
  await using child = await startProcess(bench, command, ['ignore', 'pipe', 'inherit']);
  let output = '';
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child.process, 'close');
  bench.signal.throwIfAborted();
  if (child.exitStatus() !== '0') {
    throw new Error(
      `Cannot go on: "${command.join(' ')}" ended with ${child.exitStatus()}\n${output}`,
    );
  }
  return output;
}
