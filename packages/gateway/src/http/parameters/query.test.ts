import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';

import fc from 'fast-check';

import { ParameterCheck, takenNames } from './parameter-check.ts';
import { queryOf, readQuery } from './query.ts';

async function parametersIn(url: string): Promise<URLSearchParams> {
  const request = { url };
  await readQuery(request, new Set());
  return queryOf(request);
}

/** How many turns other work has until the promise resolves. */
async function turnsWhile(working: Promise<unknown>): Promise<number> {
  const state = { turns: 0, ended: false };
  const others = async (): Promise<void> => {
    for (; !state.ended; state.turns += 1) await nextTick();
  };
  const taking = others();
  await working;
  const { turns } = state;
  state.ended = true;
  await taking;
  return turns;
}

suite('a query', () => {
  test('has the same parameters as URLSearchParams finds, however long it is', async () => {
    const long = fc
      .array(fc.constantFrom('a', '%41', '%D0%B3', '%', '%2', '+', '%e2%82', '=', '?', 'z-'), {
        minLength: 5000,
        maxLength: 9000,
        size: 'max',
      })
      .map((parts) => parts.join(''));
    const short = fc.constantFrom('a', 'a=1', '?b=?', '=', '', '%41+=%ff', 'c=%', 'd=='.repeat(99));
    const pair = fc.oneof({ weight: 400, arbitrary: short }, { weight: 1, arbitrary: long });
    const pairs = fc.array(pair, { minLength: 1, maxLength: 2000, size: 'max' });
    await fc.assert(
      fc.asyncProperty(pairs, async (list) => {
        const query = list.join('&');
        const whole = new URLSearchParams(`&${query}`);
        assert.deepEqual([...(await parametersIn(`/?&${query}`))], [...whole]);
      }),
      { numRuns: 50 },
    );
  });

  test('that is one long value is read and checked in turns', async () => {
    for (const part of ['%D0%B3', 'word+', '0', '-', 'a&', 'room=x&']) {
      // Reading many parameters takes longer than reading one of their length.
      const length = part.endsWith('&') ? 4_000_000 : 16_000_000;
      const request = { url: `/?q=${part.repeat(length / part.length)}` };
      const turns = await turnsWhile(readQuery(request, new Set()) ?? assert.fail('not in turns'));
      assert.ok(turns > 1, `${part}: ${turns} turns`);
      const whole = new URLSearchParams(`q=${part.repeat(8)}`).get('q') ?? '';
      assert.ok(queryOf(request).get('q')?.startsWith(whole));
      const check = new ParameterCheck([]);
      const checking = check.check(request, takenNames(['q']));
      assert.ok((await turnsWhile(Promise.resolve(checking))) > 1, part);
    }
  });

  test('that is not UTF-8 at the end of a long value is refused', async () => {
    const check = new ParameterCheck([]);
    for (const part of ['%D0%B3', 'word+']) {
      const url = `/?q=${part.repeat(10_000)}%D0`;
      const checking = check.check({ url }, takenNames(['q']));
      await assert.rejects(Promise.resolve(checking), /"q" must be UTF-8/);
    }
  });

  // Reading or checking them in quadratic time would take days.
  test('of millions of parameters is read in linear time', { timeout: 10 * 60_000 }, async () => {
    const many = 4_000_000;
    const url = `/?${'a&'.repeat(many)}`;
    assert.equal((await parametersIn(url)).size, many);
    const check = new ParameterCheck([]).check({ url }, takenNames([]));
    assert.ok((await turnsWhile(Promise.resolve(check))) > 1);
  });
});
