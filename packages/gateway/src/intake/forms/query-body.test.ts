import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { GatewayError } from '@open-presence/protocol';

import { grammar } from '../intake.fixture.ts';
import { bodyFromQuery } from './query-body.ts';

async function said(query: string): Promise<unknown> {
  return JSON.parse(bodyFromQuery(query, grammar.kinds.seeds).toString());
}

suite('what is said in a query', () => {
  test('is what was percent-encoded, whatever that is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const words = text.toWellFormed();
        assert.deepEqual(await said(`text=${encodeURIComponent(words)}`), { text: words });
        assert.deepEqual(await said(new URLSearchParams({ text: words }).toString()), {
          text: words,
        });
      }),
    );
  });

  test('is kept as it stands where it only looks encoded', async () => {
    for (const text of ['%', '%4', '100%', '%zz', '%4g', '%g4', '%%']) {
      assert.deepEqual(await said(`text=${text}`), { text });
    }
    assert.deepEqual(await said('a=%2B+%2b&b=%25%34%31&%61=x'), { a: ['+ +', 'x'], b: '%41' });
  });

  test('is refused where it is no UTF-8', async () => {
    for (const query of ['text=%ff', '%c3=1', 'text=%ED%A0%80', 'text=%C3%28']) {
      await assert.rejects(said(query), GatewayError);
    }
  });

  test('is refused in few words, however often it is wrong', async () => {
    for (const pair of ['%ff&', 'a=%ff&']) {
      await assert.rejects(said(pair.repeat(100_000)), ({ message, extensions }: GatewayError) => {
        return message.length < 2000 && extensions.faults?.length === 16;
      });
    }
  });
});
