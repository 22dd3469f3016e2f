import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { queryOf } from './context.ts';

suite('a query', () => {
  test('has the same parameters as URLSearchParams finds, however long it is', () => {
    const pair = fc.constantFrom('a', 'a=1', '?b=?', '=', '', '%41+=%ff', 'c=%', 'd=='.repeat(99));
    const pairs = fc.array(pair, { minLength: 1, maxLength: 2000, size: 'max' });
    fc.assert(
      fc.property(pairs, (list) => {
        const query = list.join('&');
        const whole = new URLSearchParams(`&${query}`);
        assert.deepEqual([...queryOf({ url: `/?&${query}` })], [...whole]);
      }),
      { numRuns: 50 },
    );
  });

  // Reading them in quadratic time would take days.
  test('of millions of parameters is read in linear time', { timeout: 10 * 60_000 }, () => {
    const many = 4_000_000;
    assert.equal(queryOf({ url: `/?${'a&'.repeat(many)}` }).size, many);
  });
});
