import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { deferTurn, yieldPeriodically, nextTurn } from './fair-turns.ts';

describe('fair turns', () => {
  it('come to all who wait in the order in which they asked, one in each turn of the loop', async () => {
    let loops = 0;
    let counting = setImmediate(function count() {
      loops += 1;
      counting = setImmediate(count);
    });
    const told: { readonly who: string; readonly loop: number }[] = [];
    const work = async (who: string): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await nextTurn();
        told.push({ who, loop: loops });
      }
    };
    await Promise.all(['first', 'second', 'third'].map(work));
    clearImmediate(counting);
    assert.deepEqual(
      told.map(({ who }) => who),
      ['first', 'second', 'third', 'first', 'second', 'third', 'first', 'second', 'third'],
    );
    assert.equal(new Set(told.map(({ loop }) => loop)).size, told.length);
  });

  it('are waited for by work that takes long, and by no other', async () => {
    const others = { turns: 0 };
    const fair = yieldPeriodically();
    for (let count = 0; count < 100; count += 1) await fair();
    setImmediate(() => (others.turns += 1));
    assert.equal(others.turns, 0);
    const end = performance.now() + 60_000;
    while (others.turns === 0 && performance.now() < end) await fair();
    assert.equal(others.turns, 1);
  });

  it('wait while connections are accepted, but not for ever', async () => {
    let loops = 0;
    let accepting = setImmediate(function accept() {
      loops += 1;
      deferTurn();
      accepting = setImmediate(accept);
    });
    const startedAt: number[] = [];
    for (let turns = 0; turns < 3; turns += 1) {
      await nextTurn();
      startedAt.push(loops);
    }
    clearImmediate(accepting);
    const [, second = 0, third = 0] = startedAt;
    assert.ok(third - second > 10, startedAt.join());
  });
});
