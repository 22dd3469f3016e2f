import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type SearchSteps, SearchTurns } from './search-turns.ts';

const going = new AbortController().signal;

/** Takes longer than a turn with each step, and notes its name. */
function* search(name: string, steps: number, taken: string[]): SearchSteps<string> {
  for (let step = 0; step < steps; step += 1) {
    const end = performance.now() + 3;
    while (performance.now() < end);
    taken.push(name);
    yield;
  }
  return name;
}

describe('the turns of searches', () => {
  it('go to the cheapest, so that a short search passes long ones that began before', async () => {
    const turns = new SearchTurns();
    const taken: string[] = [];
    const long = Array.from({ length: 10 }, () =>
      turns.run(search('long', 20, taken), { cost: 100 }, going),
    );
    await turns.run(search('short', 3, taken), { cost: 0 }, going);
    const before = taken.filter((name) => name === 'long').length;
    assert.ok(before <= 2, `${before} steps of long searches`);
    await Promise.all(long);
  });

  it('go to an expensive search too, while cheaper ones keep coming', async () => {
    const turns = new SearchTurns();
    const taken: string[] = [];
    const state = { ended: false };
    const comeAndGo = async (): Promise<void> => {
      while (!state.ended) await turns.run(search('cheap', 2, taken), { cost: 0 }, going);
    };
    const cheap = [comeAndGo(), comeAndGo(), comeAndGo()];
    await turns.run(search('expensive', 5, taken), { cost: 1e9 }, going);
    state.ended = true;
    await Promise.all(cheap);
    assert.equal(taken.filter((name) => name === 'expensive').length, 5);
  });

  it('end with the signal, which ends the steps as well', async () => {
    const turns = new SearchTurns();
    const taken: string[] = [];
    const ended: string[] = [];
    function* endless(): SearchSteps<string> {
      try {
        for (;;) yield* search('endless', 1, taken);
      } finally {
        ended.push('endless');
      }
    }
    const ending = new AbortController();
    const running = turns.run(endless(), { cost: 0 }, ending.signal);
    await turns.run(search('other', 3, taken), { cost: 0 }, going);
    const reason = new Error('left');
    ending.abort(reason);
    await assert.rejects(running, reason);
    assert.deepEqual(ended, ['endless']);
    const steps = taken.length;
    await assert.rejects(turns.run(search('late', 1, taken), { cost: 0 }, ending.signal), reason);
    assert.equal(taken.length, steps);
  });

  it('reject with what a step throws, and go on with others', async () => {
    const turns = new SearchTurns();
    // oxlint-disable-next-line require-yield
    function* broken(): SearchSteps<string> {
      throw new Error('broken');
    }
    const failed = turns.run(broken(), { cost: 0 }, going);
    const other = turns.run(search('other', 2, []), { cost: 0 }, going);
    await assert.rejects(failed, /broken/);
    assert.equal(await other, 'other');
  });
});
