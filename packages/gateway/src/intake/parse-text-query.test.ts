import assert from 'node:assert/strict';
import { test } from 'node:test';

import { termList } from '../log/text-query.ts';
import { parseTextQuery } from './parse-text-query.ts';

test('a term is in the query once, however it is spelled', () => {
  const one = { words: ['mint'], isPrefix: false };
  const two = { words: ['well', 'being'], isPrefix: false };
  assert.deepEqual(
    parseTextQuery(['mint Mint, "mint!" well-being', '"well  being" -stone -Stone.']),
    {
      all: termList([one, two]),
      none: termList([{ words: ['stone'], isPrefix: false }]),
    },
  );
  assert.deepEqual(parseTextQuery(['mint mint* "mint"* -mint']), {
    all: termList([one, { ...one, isPrefix: true }]),
    none: termList([one]),
  });
});
