/**
 * The processes that a run starts. Each ends with its owner, at the latest with the run, and is
 * ended by its own process id: other work on the machine is left alone.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Bench } from './bench.ts';

/** A gateway may have streams to drain; nothing takes longer than this. */
const PATIENCE_MS = 20_000;

const live = new Set<ChildProcess>();

/** Asks every process of this run to end. */
export function endAll(): void {
  // nginx ends its workers on SIGTERM only.
  for (const child of live) child.kill('SIGTERM');
}
process.on('exit', endAll);

export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Undefined while it runs, then how it ended. */
  ended(): string | undefined;
}

export async function start(
  bench: Bench,
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
    ended,
    async [Symbol.asyncDispose]() {
      if (ended() !== undefined) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const done = new AbortController();
      const late = sleep(PATIENCE_MS, true, { signal: done.signal }).catch(() => false);
      if ((await Promise.race([exit, late])) === true) child.kill('SIGKILL');
      done.abort();
      await exit;
    },
  };
}

/** Runs a command to its end and gives what it printed. Throws unless it ended well. */
export async function run(bench: Bench, command: readonly string[]): Promise<string> {
  await using child = await start(bench, command, ['ignore', 'pipe', 'inherit']);
  let said = '';
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child.process, 'close');
  bench.signal.throwIfAborted();
  if (child.ended() !== '0') {
    throw new Error(`Cannot go on: "${command.join(' ')}" ended with ${child.ended()}\n${said}`);
  }
  return said;
}
