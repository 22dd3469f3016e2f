import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { omitMembers } from './omit-members.ts';
import { PathFinder, type JsonPath } from './path-finder.ts';
import { JsonScanner } from './scanner.ts';
import { stringText } from './string-text.ts';

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

async function* chunksOf(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
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

  test('are objects without the members that are left out', async () => {
    const text = '{ "a" : 1.50 , "k":"}" ,"b":{"k":1 },"\\u006b" :[ ], "c":"\\ud800"}';
    const omitted = new Set([text.indexOf('"k"'), text.indexOf('"\\u006b"')]);
    const property = fc.asyncProperty(sizes, async (lengths) => {
      for (const [added, last] of [
        ['', ''],
        ['{ "d":1.0 ,"e":"}"}', ',"d":1.0,"e":"}"'],
      ] as const) {
        const chunks = chunksOf(cut(Buffer.from(text), lengths));
        const others = added === '' ? undefined : chunksOf(cut(Buffer.from(added), lengths));
        const pieces = await Array.fromAsync(omitMembers(chunks, omitted, others));
        const wanted = `{"a" : 1.50,"b":{"k":1 },"c":"\\ud800"${last}}`;
        assert.equal(Buffer.concat(pieces).toString(), wanted);
      }
      const added = (): AsyncIterable<Uint8Array> => chunksOf([Buffer.from('{"d":1.0 }')]);
      const alone = omitMembers(chunksOf([Buffer.from('{ "k":1 }')]), new Set([2]), added());
      assert.equal(Buffer.concat(await Array.fromAsync(alone)).toString(), '{"d":1.0}');
    });
    await fc.assert(property);
  });

  test('are strings, spelled as JSON.stringify spells them', async () => {
    const units = fc.array(
      fc.oneof(
        fc
          .constantFrom('a', '"', '\\', 'ї', '🌒', '\u2028', '\x7f', '\n', '\0')
          .map((value) => JSON.stringify(value).slice(1, -1)),
        fc.nat({ max: 0xffff }).map((code) => `\\u${code.toString(16).padStart(4, '0')}`),
        fc.constantFrom('\\ud83c\\udf12', '\\ud83c', '\\udf12', '\\/', '\\n'),
      ),
      { maxLength: 10 },
    );
    const property = fc.asyncProperty(units, sizes, async (parts, lengths) => {
      const text = `"${parts.join('')}"`;
      const pieces = await Array.fromAsync(stringText(chunksOf(cut(Buffer.from(text), lengths))));
      const wanted = JSON.stringify(JSON.parse(text)).slice(1, -1);
      assert.equal(Buffer.concat(pieces).toString(), wanted);
    });
    await fc.assert(property);
  });
});
