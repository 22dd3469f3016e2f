import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { callerEnded } from '../../ended-callers.ts';
import { Turns } from '../../fair-turns.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

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

/** `had`: turns before. */
async function run(steps: SearchSteps<string>, had: number, signal?: AbortSignal): Promise<string> {
  const turns = new Turns(signal, had);
  await turns.next();
  return await takeSteps(steps, turns, signal);
}

describe('the turns of searches', () => {
  it('go to the one that has had the fewest, so that a short search passes long ones that began before', async () => {
    const taken: string[] = [];
    const long = Array.from({ length: 10 }, () => run(search('long', 20, taken), 100));
    await run(search('short', 3, taken), 0);
    const before = taken.filter((name) => name === 'long').length;
    assert.ok(before <= 2, `${before} steps of long searches`);
    await Promise.all(long);
  });

  it('come after those of all others once its caller has ended its half, even if it waits for its first', async () => {
    const taken: string[] = [];
    const { signal } = new AbortController();
    const yielding = run(search('yielding', 5, taken), 0, signal);
    callerEnded(signal);
    await run(search('other', 3, taken), 0);
    assert.equal(taken[0], 'other');
    const before = taken.filter((name) => name === 'yielding').length;
    assert.ok(before <= 1, `${before} steps of the other`);
    await yielding;
  });

  it('go to a long search too, while shorter ones keep coming', async () => {
    const taken: string[] = [];
    const state = { ended: false };
    const comeAndGo = async (): Promise<void> => {
      while (!state.ended) await run(search('short', 2, taken), 0);
    };
    const short = [comeAndGo(), comeAndGo(), comeAndGo()];
    await run(search('long', 5, taken), 1e9);
    state.ended = true;
    await Promise.all(short);
    assert.equal(taken.filter((name) => name === 'long').length, 5);
  });

  it('end with the signal, which ends the steps as well', async () => {
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
    const running = run(endless(), 0, ending.signal);
    await run(search('other', 3, taken), 0);
    const reason = new Error('left');
    ending.abort(reason);
    await assert.rejects(running, reason);
    assert.deepEqual(ended, ['endless']);
    const steps = taken.length;
    await assert.rejects(run(search('late', 1, taken), 0, ending.signal), reason);
    assert.equal(taken.length, steps);
  });

  it('reject with what a step throws, and go on with others', async () => {
    // oxlint-disable-next-line require-yield
    function* broken(): SearchSteps<string> {
      throw new Error('broken');
    }
    const failed = run(broken(), 0);
    const other = run(search('other', 2, []), 0);
    await assert.rejects(failed, /broken/);
    assert.equal(await other, 'other');
  });
});
