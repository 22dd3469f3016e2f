/** Subscribers of an event stream, in a process of their own. */
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { start, type Child } from './children.ts';

const SUBSCRIBERS = fileURLToPath(import.meta.resolve('./subscribers.ts'));

export interface Audience extends AsyncDisposable {
  /** Resolves when each subscriber has all of so many entries. Throws if one never will. */
  hasAll(entries: number): Promise<void>;
}

/** Resolves when all are connected. */
export async function gather(bench: Bench, url: string, size: number): Promise<Audience> {
  const command = [process.execPath, SUBSCRIBERS, url, String(size)];
  const child = await start(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
  const gone = async (): Promise<void> => await child[Symbol.asyncDispose]();
  try {
    await said(bench, child, 0);
  } catch (error) {
    await gone();
    throw error;
  }
  return {
    async hasAll(entries) {
      const all = said(bench, child, entries);
      if (child.process.connected) child.process.send(entries);
      await all;
    },
    [Symbol.asyncDispose]: gone,
  };
}

async function said(bench: Bench, child: Child, expected: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const ended = (): void => reject(new Error(`The subscribers ended with ${child.ended()}`));
  child.process.once('message', resolve).once('exit', ended);
  if (child.ended() !== undefined) ended();
  const number = await promise.finally(() => child.process.off('exit', ended));
  bench.signal.throwIfAborted();
  if (number !== expected) {
    throw new Error(`The subscribers should have said ${expected}, and said ${String(number)}`);
  }
}
