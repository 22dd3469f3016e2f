import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import type { GatewayError } from '@open-presence/protocol';

import { FormConverter } from './form-body.ts';
import { hashIdempotencyKey } from '../idempotency-key.ts';
import { grammar } from '../intake.fixture.ts';
import { bodyFromQuery } from './query-body.ts';

const URLENCODED = 'application/x-www-form-urlencoded; charset=UTF-8';
const MULTIPART = 'multipart/form-data; boundary=b';

function convert(type: string, form: string | Buffer): Promise<string> {
  const bytes = Buffer.from(form);
  return convertPieces(type, bytes, bytes.length);
}

async function* piecesOf(form: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(form);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function convertPieces(type: string, form: string | Buffer, size: number): Promise<string> {
  const converter = new FormConverter(type, grammar.kinds.resonance);
  const pieces = await Array.fromAsync(converter.convertChunks(piecesOf(form, size)));
  return Buffer.concat(pieces).toString();
}

/** A form with these fields, each as a part with CRLF. */
function multipart(fields: readonly (readonly [string, string])[]): string {
  const parts = fields.map(([name, value]) =>
    ['--b', `Content-Disposition: form-data; name="${name}"`, '', value, ''].join('\r\n'),
  );
  return `${parts.join('')}--b--\r\n`;
}

suite('a urlencoded form', () => {
  test('has the members that the same query has', async () => {
    for (const query of [
      'a=1&a=2&seeking=x&b',
      'a=%7B+%26&=&&x=%',
      'text=%D1%96&to=A&mood=&to=B',
    ]) {
      const expected = bodyFromQuery(query, grammar.kinds.resonance);
      assert.equal(await convert(URLENCODED, query), expected.toString());
    }
  });

  test('is converted in many pieces where it has many fields, so that others have turns', async () => {
    const form = 'a=&'.repeat(20_000);
    const converter = new FormConverter(URLENCODED, grammar.kinds.resonance);
    const pieces = await Array.fromAsync(converter.convertChunks(piecesOf(form, form.length)));
    assert.ok(pieces.length > 10, `${pieces.length} pieces`);
  });

  test('has the same members in whatever pieces it comes, held or not', async () => {
    const field = fc.record({
      name: fc.constantFrom('a', 'seeking', 'to[]', 'і'),
      value: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('щ'.repeat(35_000))),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(field), fc.constantFrom(97, 4096), async (fields, size) => {
        const pairs = fields.map(({ name, value }): [string, string] => [
          name,
          value.toWellFormed(),
        ]);
        const form = new URLSearchParams(pairs).toString();
        assert.equal(await convertPieces(URLENCODED, form, size), await convert(URLENCODED, form));
      }),
      { numRuns: 20 },
    );
  });

  test('that is long loses no field, and keeps the order of the values of a name', async () => {
    const long = 'x'.repeat(70_000);
    const json = await convert(
      URLENCODED,
      `to=A&text=${long}&to=B&seeking=${long}&mood=1&mood=${long}`,
    );
    const printed = `{"text":"${long}","seeking":["${long}"],"mood":"1","mood":"${long}"`;
    assert.equal(json, `${printed},"to":["A","B"]}`);
  });

  test('is JSON if it starts like JSON', async () => {
    for (const json of ['{"a":1}', ' {"a":1}', '\n{}', '["a=b"]', '"a=b"', '\u{feff}{}', '']) {
      assert.equal(await convert(URLENCODED, json), json);
      assert.equal(await convert('text/plain', json), json);
    }
    assert.equal(await convert('text/plain', 'a=b'), 'a=b');
  });

  test('is refused where it is no UTF-8, long or short', async () => {
    for (const value of ['%ff', `${'x'.repeat(70_000)}%ff`, `${'x'.repeat(70_000)}%d1`]) {
      for (const size of [1e6, 1000]) {
        await assert.rejects(
          convertPieces(URLENCODED, `a=1&text=${value}`, size),
          ({ code, extensions }: GatewayError) =>
            code === 'invalid-parameter' && extensions.faults?.[0]?.parameter === 'text',
        );
      }
    }
  });

  test('may have its idempotency key as a field', async () => {
    const converter = new FormConverter(URLENCODED, grammar.kinds.seeds);
    const form = 'a=1&idempotency-key=k&as=b';
    const pieces = await Array.fromAsync(converter.convertChunks(piecesOf(form, 9)));
    const json = Buffer.concat(pieces).toString();
    assert.equal(json, '{"a":"1","as":"b"}');
    assert.deepEqual(converter.key, hashIdempotencyKey('k', null));
    await assert.rejects(convert(URLENCODED, 'idempotency-key='), { code: 'invalid-parameter' });
    const long = `idempotency-key=${'k'.repeat(70_000)}`;
    await assert.rejects(convert(URLENCODED, long), { message: /header "Idempotency-Key"/ });
  });
});

suite('a multipart form', () => {
  const fields = [
    ['text', 'Перша\r\nдруга\r\n--c'],
    ['to', 'A'],
    ['to', ''],
  ] as const;
  const expected = '{"text":"Перша\\r\\nдруга\\r\\n--c","to":["A",""]}';

  test('has a member for each part, in whatever pieces it comes', async () => {
    for (const size of [1, 2, 5, 1000]) {
      assert.equal(await convertPieces(MULTIPART, multipart(fields), size), expected);
    }
  });

  test('is read as browsers, curl and others write it', async () => {
    const head =
      'preamble\r\n--b\r\nX-Other: 1\r\ncontent-disposition:form-data;filename="a; name=x.txt"';
    const file = `${head}; name=text\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b--\r\nepilogue\r\n--b`;
    assert.equal(await convert(MULTIPART, file), '{"text":"hi"}');
    const escaped = multipart([['a%22\\"é', '1']]);
    assert.equal(await convert(MULTIPART, escaped), '{"a\\"\\"é":"1"}');
    const quotedBoundary = 'Multipart/Form-Data; charset=x; boundary="b"';
    assert.equal(await convert(quotedBoundary, multipart([['a', '']])), '{"a":""}');
    assert.equal(await convert(MULTIPART, '--b--\r\n'), '{}');
  });

  test('that is long is printed as it arrives', async () => {
    const long = 'ї'.repeat(100_000);
    const form = multipart([
      ['to', 'A'],
      ['text', long],
    ]);
    assert.equal(await convertPieces(MULTIPART, form, 1000), `{"text":"${long}","to":"A"}`);
  });

  for (const [fault, type, form] of [
    ['has no boundary', 'multipart/form-data', '--b'],
    ['has no part', MULTIPART, 'text=hello'],
    ['breaks off', MULTIPART, multipart(fields).slice(0, -8)],
    [
      'has a part without a name',
      MULTIPART,
      '--b\r\nContent-Disposition: form-data\r\n\r\n\r\n--b--',
    ],
  ] as const) {
    test(`that ${fault} is refused`, async () => {
      await assert.rejects(
        convert(type, form),
        ({ code, extensions, message }: GatewayError) =>
          code === 'invalid-parameter' &&
          extensions.faults?.[0]?.parameter === 'Content-Type' &&
          message.includes('multipart/form-data'),
      );
    });
  }

  test('with a file that is no text is refused, and told to encode it', async () => {
    const form = Buffer.from(multipart([['image', 'PNG \u00ff']]), 'latin1');
    await assert.rejects(convert(MULTIPART, form), { message: /"image" must be text .* base64/ });
  });
});
