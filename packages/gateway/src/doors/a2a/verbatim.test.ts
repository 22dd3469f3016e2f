import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { cut, cutEach, RawJson } from './verbatim.ts';

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

suite('a text within a text of JSON', () => {
  test('is cut out as it was spelled', () => {
    fc.assert(
      fc.property(anyText, anyText, space, (wanted, other, gap) => {
        const text = `${gap}{"x":${other},"p"${gap}:${gap}{"q":[${other}],"q":${wanted}${gap}}}`;
        assert.equal(cut(text, ['p', 'q']), wanted);
        assert.equal(cut(text, ['p', 'none']), undefined);
      }),
    );
  });

  test('is cut out of each element', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, anyText, space)), (said) => {
        const parts = said.map(([wanted, other, gap]) => {
          return `${gap}{"a":${other},"data"${gap}:${wanted}${gap},"z":${other}}${gap}`;
        });
        const text = `{"m":{"parts":[${[...parts, '{}', '7'].join(',')}]}}`;
        const wanted = [...said.map(([value]) => value), undefined, undefined];
        assert.deepEqual(cutEach(text, ['m', 'parts'], 'data'), wanted);
      }),
    );
  });

  test('stands in an answer as it was spelled', () => {
    fc.assert(
      fc.property(fc.array(anyText), (said) => {
        const verbatim = new RawJson();
        const held = said.map((text) => ({ entry: verbatim.hold(text) }));
        const wanted = said.map((text) => `{"entry":${text}}`);
        assert.equal(verbatim.print(held), `[${wanted.join(',')}]`);
      }),
    );
  });
});
