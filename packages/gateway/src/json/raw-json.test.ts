import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { rawMembers, rawValue, rawValueOfEach, RawJson } from './raw-json.ts';

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 3 });

const name = fc.constantFrom('"a"', '"b"', String.raw`"\u0061"`, '""', String.raw`"\"}"`);
const scalar = fc.oneof(
  fc.constantFrom('1', '-0.10e+5', 'true', 'null', '"]"', String.raw`"\\"`, String.raw`"\"{"`),
  fc.json({ maxDepth: 0 }),
);

/** A JSON text, with space wherever it may stand. */
const { text: anyText } = fc.letrec<{ text: string; array: string; object: string }>((tie) => ({
  text: fc.oneof({ depthSize: 'small' }, scalar, tie('array'), tie('object')),
  array: fc
    .array(fc.tuple(space, tie('text'), space), { maxLength: 4 })
    .map((items) => `[${items.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(space, name, space, space, tie('text'), space), { maxLength: 4 })
    .map(
      (items) =>
        `{${items.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}}`,
    ),
}));

suite('a text within a JSON text', () => {
  test('is cut out as it was spelled', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, space, async (wanted, other, gap) => {
        const text = `${gap}{"x":${other},"p"${gap}:${gap}{"q":[${other}],"q":${wanted}${gap}}}`;
        const bytes = Buffer.from(text);
        assert.equal(String(await rawValue(bytes, ['p', 'q'])), wanted);
        assert.equal(await rawValue(bytes, ['p', 'none']), undefined);
        assert.equal(await rawValue(bytes, ['none', 'q']), undefined);
      }),
    );
  });

  test('is cut out of each element', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyText, anyText, space)), async (texts) => {
        const parts = texts.map(([wanted, other, gap]) => {
          return `${gap}{"a":${other},"data"${gap}:${wanted}${gap},"z":${other}}${gap}`;
        });
        const array = Buffer.from(`[${[...parts, '{}', '7'].join(',')}]`);
        const wanted = [...texts.map(([value]) => value), undefined, undefined];
        const found = await rawValueOfEach(array, 'data');
        assert.deepEqual(
          found.map((value) => value?.toString()),
          wanted,
        );
      }),
    );
  });

  test('is listed with its place', async () => {
    const object = Buffer.from('\uFEFF { "a" : 1.50 ,"\\u0062":[{"c":1}] }');
    assert.deepEqual(await rawMembers(object), [
      { name: 'a', start: 6, valueStart: 12, end: 16 },
      { name: 'b', start: 18, valueStart: 27, end: 36 },
    ]);
    assert.deepEqual(await rawMembers(Buffer.from('[7]')), [
      { name: undefined, start: 1, valueStart: 1, end: 2 },
    ]);
    assert.deepEqual(await rawMembers(Buffer.from('"{}"')), []);
  });

  test('replaces a placeholder as it was spelled', () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const raw = new RawJson();
        const values = texts.map((text) => ({ entry: raw.placeholder(text) }));
        const wanted = texts.map((text) => `{"entry":${text}}`);
        assert.equal(raw.stringify(values), `[${wanted.join(',')}]`);
        assert.equal(raw.stringify(raw.placeholder('1.50')), '1.50');
      }),
    );
  });
});

test('placeholders outlive stringify(), and end with stringifyLast()', () => {
  const rawJson = new RawJson();
  const value = { entry: rawJson.placeholder('{"n":1.10}') };
  assert.equal(rawJson.stringify(value), '{"entry":{"n":1.10}}');
  assert.equal(rawJson.stringifyLast(value), '{"entry":{"n":1.10}}');
  assert.equal(rawJson.stringify(value), '{"entry":null}');
});
