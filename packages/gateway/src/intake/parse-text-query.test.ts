import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';

import fc from 'fast-check';

import { termList, termsIn } from '../log/text-query.ts';
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

test('megabytes of words are terms, each once, while others have their turns', async () => {
  const many = 300_000;
  const words = Array.from({ length: many }, (_, at) => at.toString(36));
  const query = `${words.join(' ')} ${words.join(' ')}`;
  const state = { turns: 0, ended: false };
  const others = async (): Promise<void> => {
    for (; !state.ended; state.turns += 1) await nextTick();
  };
  const taking = others();
  const parsed = await parseTextQuery([query]);
  state.ended = true;
  await taking;
  assert.ok('all' in parsed);
  assert.deepEqual(
    Array.from(termsIn(parsed.all), (term) => term.words[0]),
    words,
  );
  assert.equal(parsed.all.count, many);
  assert.ok(state.turns > 20, `${state.turns} turns`);
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

test('there is room for all terms, whatever divides them', async () => {
  const pieces = ['a', 'b7', 'ж', '中', '㎏', 'ﷺ', ' ', '"', '-', '.', '*', '\u3000', '😀', "'"];
  const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 3 }), async (queries) => {
      // A set without a free place would never end.
      await parseTextQuery(queries.map((query) => query.join('')));
    }),
    { numRuns: 300 },
  );
  const words = Array.from({ length: 20_001 }, (_, at) => at.toString(36));
  for (const divider of ['.', '-', ' ', '"', '" "', '\u3000']) {
    const parsed = await parseTextQuery([`x "${words.join(divider)}"`]);
    assert.ok('all' in parsed, divider);
    assert.ok(parsed.all.count >= words.length / 64, divider);
  }
});
