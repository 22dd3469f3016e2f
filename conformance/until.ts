/** Waiting for a condition. Nothing has to be fast: a deadline only tells a hang from a slow machine. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** After this long, something hangs. */
export const PATIENCE_MS: number = 5 * 60_000;
const INTERVAL_MS = 25;

/**
 * Reads a value again and again until it meets the condition, and resolves with it. `describe` says in the
 * error what is wrong with the last value, where the value and the condition do not say enough.
 */
export async function until<Value>(
  read: () => Promise<Value>,
  isMet: (value: Value) => boolean,
  describe: (value: Value) => string = (value) =>
    `${inspect(value, { maxStringLength: 2000 })} never meets ${String(isMet)}`,
): Promise<Value> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await read();
    if (isMet(value)) return value;
    assert.ok(performance.now() < end, describe(value));
    await pause(INTERVAL_MS);
  }
}
