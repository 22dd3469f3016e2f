/** What the suites of the contract open, and how they collect and compare what is read. */
import assert from 'node:assert/strict';

import type { Log, ReadEnd } from '../../packages/gateway/src/log/log.ts';

/** A log under test. Disposing of it closes the log that is open then, and removes its data. */
export interface Opened extends AsyncDisposable {
  readonly log: Log;
  /** The same log, as another gateway has it. Without it, no other can have it. */
  readonly another?: () => Promise<Log>;
}

export interface Reopenable extends Opened {
  /** Closes the log that is open and opens another on the same data. */
  reopen(): Promise<Log>;
}

export type Open = () => Promise<Opened>;

export interface Collected<Item> {
  readonly items: Item[];
  readonly end: ReadEnd;
}

export async function collect<Item>(
  reading: AsyncGenerator<Item, ReadEnd, undefined>,
): Promise<Collected<Item>> {
  const items: Item[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done === true) return { items, end: { ...step.value } };
    items.push(copied(step.value));
  }
}

/** A piece is ours only until the next. */
export function copied<Item>(item: Item): Item;
export function copied(item: unknown): unknown {
  return item instanceof Uint8Array ? Buffer.from(item) : item;
}

export async function join(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces, copied));
}

/** Says where bytes differ, instead of printing megabytes of them. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  if (Buffer.compare(actual, expected) === 0) return;
  let at = 0;
  while (at < actual.length && actual[at] === expected[at]) at++;
  const near = (bytes: Uint8Array): string =>
    JSON.stringify(Buffer.from(bytes.subarray(Math.max(0, at - 60), at + 60)).toString());
  assert.fail(
    `${what} differs at byte ${at}: wanted ${near(expected)} (${expected.length} bytes), ` +
      `got ${near(actual)} (${actual.length} bytes)`,
  );
}
