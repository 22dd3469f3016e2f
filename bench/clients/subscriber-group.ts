/** Subscribers of an event stream, in their own process (`subscribers.ts`). */
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { startProcess, type Child } from '../processes/child-process.ts';

const SUBSCRIBERS = fileURLToPath(import.meta.resolve('./subscribers.ts'));

export interface SubscriberGroup extends AsyncDisposable {
  /** Resolves when each subscriber has received this many entries in all. Rejects on a gap. */
  waitForEntries(entries: number): Promise<void>;
}

/** Resolves when all are connected. */
export async function startSubscribers(
  bench: BenchContext,
  url: string,
  size: number,
): Promise<SubscriberGroup> {
  const command = [process.execPath, SUBSCRIBERS, url, String(size)];
  const child = await startProcess(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
  const dispose = async (): Promise<void> => await child[Symbol.asyncDispose]();
  try {
    await expectMessage(bench, child, 0);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    async waitForEntries(entries) {
      const received = expectMessage(bench, child, entries);
      if (child.process.connected) child.process.send(entries);
      await received;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

async function expectMessage(bench: BenchContext, child: Child, expected: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const ended = (): void => reject(new Error(`The subscribers ended with ${child.exitStatus()}`));
  child.process.once('message', resolve).once('exit', ended);
  if (child.exitStatus() !== undefined) ended();
  const number = await promise.finally(() => child.process.off('exit', ended));
  bench.signal.throwIfAborted();
  if (number !== expected) {
    throw new Error(`The subscribers sent ${String(number)} instead of ${expected}`);
  }
}
