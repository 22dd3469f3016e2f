/** What an `EventSource` hears, a real browser's or another, across everything that happens. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { everything, type House, Speakers } from './house.ts';

const PATIENCE_MS = 60_000;
const EVERY_MS = 25;
const SPEAKERS = 4;
/** After each beginning, so that what comes live is cut too. */
const HEARD_BETWEEN = 100;

export interface Heard {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
}

export interface Listener {
  /** How much it has heard so far; throws where it has given up. */
  count(): Promise<number>;
  /** All that it has heard, in order. */
  heard(): Promise<readonly Heard[]>;
}

/**
 * Ends the gateway and wakes it again, several times while others speak. In the end the listener
 * must have heard every entry once, in order, as the listings have it. Resolves with their number.
 */
export async function hearsAllAcrossRestarts(house: House, listener: Listener): Promise<number> {
  const speakers = new Speakers(house.url, SPEAKERS);
  const more = async (): Promise<void> => {
    const from = await listener.count();
    await reaches(listener, from + HEARD_BETWEEN);
  };
  await more();
  for (const end of ['crash', 'crash', 'rest', 'crash'] as const) {
    await house[end]();
    await more();
  }
  const said = await speakers.finish();
  const wanted = await everything(house.url);
  assert.equal(wanted.length, said, 'each number is an entry');
  await reaches(listener, said);
  const heard = await listener.heard();
  assert.deepEqual(
    heard.map(({ id }) => id),
    wanted.map(({ seq }) => String(seq)),
  );
  for (const [at, { text, kind }] of wanted.entries()) {
    assert.deepEqual([heard[at]?.kind, heard[at]?.data], [kind, text]);
  }
  return said;
}

async function reaches(listener: Listener, count: number): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let heard = await listener.count(); heard < count; heard = await listener.count()) {
    assert.ok(performance.now() < until, `only ${heard} of ${count} entries are ever heard`);
    await pause(EVERY_MS);
  }
}
