import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { JsonHandler } from './handler.ts';
import { isSurelyExact } from './portability-meter.ts';
import { PortableSpelling, respelled } from './portable-spelling.ts';
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
  '\u0085',
  '\u2028',
  '\u2029',
  '\u2027',
  '","',
);
const json = fc.array(part, { maxLength: 12 }).map((parts) => `["${parts.join('')}"]`);
const cuts = fc.array(fc.nat(90), { maxLength: 12 });

function pieces(text: string, at: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const ends = [0, ...at.toSorted((a, b) => a - b), bytes.length];
  return ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
}

const LINE_END = /[\u0085\u2028\u2029]/;

suite('what readers refuse', () => {
  test('halves are replaced as toWellFormed() does, and line ends are escaped, however the text is cut', () => {
    fc.assert(
      fc.property(json, cuts, (text, at) => {
        const spelling = new PortableSpelling();
        const replaced = Buffer.concat(pieces(text, at).map((piece) => spelling.replace(piece)));
        assert.equal(replaced.toString(), respelled(Buffer.from(text)).toString());
        assert.doesNotMatch(replaced.toString(), LINE_END);
        const strings = JSON.parse(text) as string[];
        const expected = strings.map((one) => one.toWellFormed());
        assert.deepEqual(JSON.parse(replaced.toString()), expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('is found by the scanner exactly where there is some, however the text is cut', () => {
    fc.assert(
      fc.property(json, cuts, (text, at) => {
        const scanner = new JsonScanner(new JsonHandler());
        const whole = `{"a":${text}}`;
        for (const piece of pieces(whole, at)) scanner.feed(piece);
        const isWhole = (JSON.parse(text) as string[]).every((one) => one.isWellFormed());
        const isExact = isWhole && !LINE_END.test(text);
        assert.equal(scanner.portability, isExact ? 'exact' : 'respelled');
      }),
      { numRuns: 2000 },
    );
  });

  test('in any spelling is found however the text is cut', () => {
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
      '"\u2028"',
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
