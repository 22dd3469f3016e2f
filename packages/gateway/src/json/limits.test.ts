import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { hasMoreValues, isDeeper } from './limits.ts';

suite('the limits of a JSON text', () => {
  test('count every value, and an empty object or array twice', async () => {
    for (const [text, values] of [
      ['[1, "[,]", true]', 4],
      ['{"a":{"b":null},"[,]":[0]}', 5],
      ['[{},[],[[]]]', 8],
    ] as const) {
      assert.equal(await hasMoreValues(Buffer.from(text), values), false, text);
      assert.equal(await hasMoreValues(Buffer.from(text), values - 1), true, text);
    }
  });

  test('find too many values in a text of any length, in turns', async () => {
    const long = Buffer.from(`["${'\\"'.repeat(5_000_000)}",1]`);
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    assert.equal(await hasMoreValues(long, 3), false);
    clearInterval(counting);
    assert.ok(turns > 5, `${turns} turns`);
    assert.equal(await hasMoreValues(long, 2), true);
  });

  test('hold up to where a text stops being JSON', async () => {
    assert.equal(await hasMoreValues(Buffer.from('[1,2,x,3,4]'), 3), false);
    assert.equal(await hasMoreValues(Buffer.from('[1,2,3,x]'), 3), true);
    assert.equal(isDeeper(Buffer.from('[[x[[[['), 2), false);
  });

  test('find how deep objects and arrays are nested', () => {
    const nested = Buffer.from(`${'[{"a":'.repeat(250)}"[[["${'}]'.repeat(250)}`);
    assert.equal(isDeeper(nested, 500), false);
    assert.equal(isDeeper(nested, 499), true);
    assert.equal(isDeeper(Buffer.from(`[${'[],'.repeat(1000)}0]`), 2), false);
  });
});
