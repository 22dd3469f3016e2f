import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { HalfSurrogates, replaceHalves } from './half-surrogates.ts';
import { JsonHandler } from './handler.ts';
import { isSurelyExact } from './portability-meter.ts';
import { JsonScanner } from './scanner.ts';

/** Parts of JSON strings that meet in every order. */
const part = fc.constantFrom(
  String.raw`\ud83d`,
  String.raw`\uDE00`,
  String.raw`\udbff`,
  String.raw`\u0041`,
  String.raw`\\`,
  String.raw`\n`,
  'ud83d',
  'я',
  '😀',
  '","',
);
const json = fc.array(part, { maxLength: 12 }).map((parts) => `["${parts.join('')}"]`);
const cuts = fc.array(fc.nat(90), { maxLength: 12 });

function pieces(text: string, at: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const ends = [0, ...at.toSorted((a, b) => a - b), bytes.length];
  return ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
}

suite('halves of surrogate pairs', () => {
  test('are replaced as toWellFormed() does, in the same length, however the text is cut', () => {
    fc.assert(
      fc.property(json, cuts, (text, at) => {
        const halves = new HalfSurrogates();
        const replaced = Buffer.concat(pieces(text, at).map((piece) => halves.replace(piece)));
        assert.equal(replaced.toString(), replaceHalves(Buffer.from(text)).toString());
        assert.equal(replaced.length, Buffer.byteLength(text));
        const strings = JSON.parse(text) as string[];
        const expected = strings.map((one) => one.toWellFormed());
        assert.deepEqual(JSON.parse(replaced.toString()), expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('are found by the scanner exactly where there are some, however the text is cut', () => {
    fc.assert(
      fc.property(json, cuts, (text, at) => {
        const scanner = new JsonScanner(new JsonHandler());
        const whole = `{"a":${text}}`;
        for (const piece of pieces(whole, at)) scanner.feed(piece);
        const isWhole = (JSON.parse(text) as string[]).every((one) => one.isWellFormed());
        assert.equal(scanner.portability, isWhole ? 'exact' : 'halves');
      }),
      { numRuns: 2000 },
    );
  });

  test('and what readers refuse in any spelling are found however the text is cut', () => {
    const values = [
      '1e999',
      '-1e400',
      '0.5e-9',
      '1'.repeat(1001),
      '{"\\u0000":1}',
      '"\\u0000"',
      '['.repeat(70) + ']'.repeat(70),
      '"1e999"',
      '[[]]',
      '"\\ud83d"',
    ];
    fc.assert(
      fc.property(fc.subarray(values), fc.array(fc.nat(3000)), (some, at) => {
        const whole = `{"a":[${some.join(',')}]}`;
        const [split, once] = [pieces(whole, at), pieces(whole, [])].map((all) => {
          const scanner = new JsonScanner(new JsonHandler());
          for (const piece of all) scanner.feed(piece);
          return scanner.portability;
        });
        assert.equal(split, once);
        const surely = isSurelyExact(Buffer.from(whole), whole);
        assert.ok(!surely || once === 'exact');
      }),
    );
  });
});
