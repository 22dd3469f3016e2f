import assert from 'node:assert/strict';
import { test } from 'node:test';

import { termList } from '../log/text-query.ts';
import { parseTextQuery, queryNotes } from './parse-text-query.ts';

test('a term is in the query once, however it is spelled', async () => {
  const one = { words: ['mint'], isPrefix: false };
  const two = { words: ['well', 'being'], isPrefix: false };
  assert.deepEqual(
    await parseTextQuery(['mint Mint, "mint!" well-being', '"well  being" -stone -Stone.']),
    {
      all: termList([one, two]),
      none: termList([{ words: ['stone'], isPrefix: false }]),
    },
  );
  assert.deepEqual(await parseTextQuery(['mint mint* "mint"* -mint']), {
    all: termList([one, { ...one, isPrefix: true }]),
    none: termList([one]),
  });
});

test('a phrase of many words is several terms, which overlap', async () => {
  const words = Array.from({ length: 100 }, (_, at) => `w${at}`);
  const first = { words: words.slice(0, 64), isPrefix: false };
  assert.deepEqual(await parseTextQuery([`"${words.join(' ')}"*`]), {
    all: termList([
      first,
      { words: words.slice(32, 96), isPrefix: false },
      { words: words.slice(64), isPrefix: true },
    ]),
    none: termList([]),
  });
  assert.deepEqual(await parseTextQuery([`mint -"${words.join('-')}"`]), {
    all: termList([{ words: ['mint'], isPrefix: false }]),
    none: termList([first]),
  });
});

test('of very many queries, the first are looked at for notes, and few notes are made', () => {
  let taken = 0;
  const many = function* (query: string): Generator<string> {
    for (; taken < 1_000_000; taken += 1) yield query;
  };
  assert.equal(queryNotes(['mood:calm', 'a', 'identity: b']).length, 2);
  assert.equal(queryNotes(many('mood:calm')).length, 8);
  assert.equal(taken, 7);
  assert.deepEqual(queryNotes(many('a')), []);
  assert.ok(taken < 10_000, `${taken} queries`);
});
