import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseTextQuery } from './parse-text-query.ts';

test('what is sought is sought once, however it is spelled', () => {
  const one = { words: ['mint'], open: false };
  const two = { words: ['well', 'being'], open: false };
  assert.deepEqual(
    parseTextQuery(['mint Mint, "mint!" well-being', '"well  being" -stone -Stone.']),
    {
      all: [one, two],
      none: [{ words: ['stone'], open: false }],
    },
  );
  assert.deepEqual(parseTextQuery(['mint mint* "mint"* -mint']), {
    all: [one, { ...one, open: true }],
    none: [one],
  });
});
