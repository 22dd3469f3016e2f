import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { anyCharacter } from './characters.fixture.ts';
import { StringValueReader, stringValuesIn } from './string-values.ts';

function valuesInPieces(body: Buffer, width: number): string[] {
  const values: string[] = [];
  let value = '';
  const reader = new StringValueReader({
    text: (piece) => void (value += piece),
    end: () => {
      values.push(value);
      value = '';
    },
  });
  for (let at = 0; at < body.length; at += width) reader.feed(body.subarray(at, at + width));
  return values;
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

suite('the string values of a body', () => {
  test('are no cause to hide what their reader throws, such as a full disk', () => {
    const reader = new StringValueReader({
      text() {
        throw new Error('the disk is full');
      },
      end() {},
    });
    assert.throws(() => reader.feed(Buffer.from('"text":"moss"')), /the disk is full/);
  });

  test('are found at any depth, without names, however the body is cut', () => {
    const text = fc.string({ unit: anyCharacter() });
    const bodies = fc.dictionary(text, fc.jsonValue({ stringUnit: anyCharacter() }));
    fc.assert(
      fc.property(bodies, fc.boolean(), fc.nat(20), (members, comma, width) => {
        const json = JSON.stringify(members).slice(1, -1);
        const body = Buffer.from(comma && json !== '' ? `,${json}}` : json);
        const values = stringValuesIn(body);
        assert.deepEqual(values.toSorted(), stringsIn(JSON.parse(`{${json}}`)).toSorted());
        assert.deepEqual(valuesInPieces(body, width + 1), values);
      }),
    );
  });

  test('have escapes resolved, and repeated members are all read', () => {
    const body = String.raw`,"a":"\u0434\ud83c\udf31\n\"\/","a":["x",{"b":"y"},1,null]}`;
    assert.deepEqual(stringValuesIn(Buffer.from(body)), ['д🌱\n"/', 'x', 'y']);
  });

  test('leave out the members that classify the entry, but not what is called so deeper down', () => {
    const body = Buffer.from(
      String.raw`"identit\u0079Type":"a","text":"b","room":{"x":"c"},"inReplyTo":["d",["e"]],` +
        String.raw`"deep":[{"room":"f","inReplyTo":["g"]}],"consciousness_type":null,"identity":"h"}`,
    );
    for (const width of [1, 2, 7, 1000]) {
      assert.deepEqual(valuesInPieces(body, width), ['b', 'f', 'g', 'h']);
    }
  });

  test('are read as far as the body is intact', () => {
    const body = Buffer.from(',"a":"x","b":"y","c":"z"}');
    for (const byte of [0x00, 0xff]) {
      const damaged = Buffer.from(body);
      damaged[13] = byte;
      assert.deepEqual(stringValuesIn(damaged), ['x']);
      assert.deepEqual(valuesInPieces(damaged, 3), ['x']);
    }
  });
});
