import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { UNSEARCHED_MEMBERS } from '@open-presence/protocol';
import fc from 'fast-check';

import { stringValuesIn } from '../../json/string-values.ts';
import { tokenize } from '../../search/tokenizer.ts';
import { AsciiWords } from './ascii-words.ts';

const END = '\uf8ff';
/** Of the gateway's own members, which are not read. */
const HEAD = '{"id":"1"';
const words = new AsciiWords(END);

function wordsOf(body: string): string | undefined {
  const found = words.read(Buffer.from(HEAD + body), HEAD.length);
  return found && Buffer.from(found).toString();
}

function expected(body: string): string {
  const values = stringValuesIn(Buffer.from(body)).map((value) =>
    [...tokenize(value), END].map((word) => `${word} `).join(''),
  );
  return values.join('');
}

suite('the words of ASCII entries', () => {
  test('are those of their string values', () => {
    const letters = Array.from(" aZ09_.,:'{}[]-/@`~");
    const text = fc.string({ unit: fc.constantFrom(...letters), maxLength: 30 });
    const name = fc.oneof(text, fc.constantFrom('text', ...UNSEARCHED_MEMBERS));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constantFrom(null, true, 1.5),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const members = fc.array(fc.tuple(name, value), { maxLength: 5 });
    fc.assert(
      fc.property(members, fc.constantFrom(0, 2), (pairs, space) => {
        const spelled = pairs.map(
          ([member, content]) =>
            `${JSON.stringify(member)} : ${JSON.stringify(content, null, space)}`,
        );
        const body = `${spelled.map((pair) => `,${pair}`).join('')}}`;
        const found = wordsOf(body);
        const isNested = pairs.some(
          ([member, content]) =>
            UNSEARCHED_MEMBERS.has(member) && typeof content === 'object' && content !== null,
        );
        assert.equal(found, isNested ? undefined : expected(body));
      }),
    );
  });

  test('are cut where they are too long', () => {
    const body = `,"text":"${'X'.repeat(300)} ${'y'.repeat(256)}"}`;
    assert.equal(wordsOf(body), expected(body));
  });

  test('are left to others where there are escapes, other letters or long bodies', () => {
    for (const text of ['\\n', '\\"', 'сад', 'é', 'x'.repeat(17_000)]) {
      assert.equal(wordsOf(`,"text":"${text}"}`), undefined);
      assert.equal(wordsOf(`,"${text}":1}`), undefined);
    }
  });
});
