import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { PathFinder, type JsonPath } from './path-finder.ts';
import { JsonScanner } from './scanner.ts';

const sizes = fc.array(fc.nat({ max: 7 }), { maxLength: 40 });

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return [...pieces, bytes.subarray(from)];
}

function find(pieces: readonly Buffer[], paths: readonly JsonPath[]): [JsonPath, string][] {
  const text = Buffer.concat(pieces);
  const found: [JsonPath, string][] = [];
  const finder = new PathFinder(paths, ({ path, start, end }) => {
    found.push([path, text.toString('utf8', start, end)]);
  });
  const scanner = new JsonScanner(finder);
  for (const piece of pieces) scanner.feed(piece);
  scanner.end();
  return found;
}

suite('values in a JSON text of any size', () => {
  test('are found by their paths, wherever the text is cut', () => {
    const a: JsonPath = ['p', 'a'];
    const inner: JsonPath = ['p', 'a', 'k'];
    const each: JsonPath = ['list', null, 'd'];
    const text = Buffer.from(
      '\uFEFF{"a":0,"p":{"x":{"a":1},"\\u0061" : {"k":[1],"z":2} },"p":[{"a":1}],"ї":7,' +
        '"list":[{"d":1.50},[{"d":2}],{"e":{"d":3},"d":"ї\\"}"},4],"p":{"a":5}}',
    );
    const property = fc.property(sizes, (lengths) => {
      assert.deepEqual(find(cut(text, lengths), [a, inner, each]), [
        [inner, '[1]'],
        [a, '{"k":[1],"z":2}'],
        [each, '1.50'],
        [each, '"ї\\"}"'],
        [a, '5'],
      ]);
    });
    fc.assert(property);
  });
});
