import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '@open-presence/protocol';

import { JsonHandler } from './handler.ts';
import { JsonScanner } from './scanner.ts';

function refusalOf(...pieces: (string | Uint8Array)[]): GatewayError | undefined {
  try {
    const scanner = new JsonScanner(new JsonHandler());
    for (const piece of pieces) scanner.feed(Buffer.from(piece));
    scanner.end();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'malformed-json');
    return error;
  }
}

const messages: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ['an empty body', '', /the body is empty, expected a JSON object/],
  ['a body of spaces', ' \n ', /the body is empty/],
  ['a form', 'identity=a&text=b', /byte 0 .* found `i`, .* form fields need/],
  ['a form that begins like a word', 'text=b', /byte 1 .* form fields need/],
  [
    'single quotes',
    `{"a":1,\n  'b':2}`,
    /byte 10 \(line 2, column 3\) found `'`, .* quoted with `"`/,
  ],
  ['a comma before a brace', '{"a":1,}', /byte 7 .* found `}`, .* Leave out the comma/],
  ['a comma before a bracket', '[1,]', /byte 3 .* found `]`, .* Leave out the comma/],
  ['two commas', '[1,,2]', /byte 3 .* found `,`, .* extra comma/],
  ['NaN', '{"a":NaN}', /byte 5 .* found `N`, .* write `null`/],
  ['undefined', '{"a":undefined}', /found `u`, .* no `undefined`/],
  ['True', '{"a":True}', /found `T`, .* `true` in lowercase/],
  ['minus infinity', '{"a":-Infinity}', /byte 6 .* found `I`, expected a digit/],
  ['a comment', '{"a":1 // b\n}', /byte 7 .* found `\/`, .* no comments/],
  ['a leading zero', '{"a":01}', /byte 6 .* no digit after a leading zero/],
  ['a line break in a string', '{"a":"b\nc"}', /byte 7 .* U\+000A \(a line feed\), .* as `\\n`/],
  ['a tab in a string', '{"a":"\t"}', /U\+0009 \(a tab\), .* as `\\t`/],
  ['a lone backslash', '{"a":"c:\\x"}', /byte 9 .* found `x`, .* backslash itself as `\\\\`/],
  ['a short escape', '{"a":"\\u12g4"}', /byte 10 .* found `g`, expected a hexadecimal digit/],
  ['a quote within quotes', '{"a":"b "c" d"}', /byte 9 .* found `c`, .* not escaped as `\\"`/],
  ['a name without quotes', '{a:1}', /found `a`, expected a member name in double quotes or `}`/],
  ['no colon', '{"a" 1}', /byte 5 .* expected `:`/],
  ['a string cut off', '{"a":"b', /byte 7 .* found the end of the body, expected a closing `"`/],
  [
    'a number cut off',
    '[1',
    /byte 2 .* found the end of the body, expected `,` or `]`\. .* cut off/,
  ],
  ['two objects', '{"a":1}{"b":2}', /byte 7 .* found `{`, expected nothing more.* one object/],
  ['two byte order marks', '\uFEFF\uFEFF{}', /byte 3 .* found U\+FEFF \(a byte order mark\)/],
  ['a character of two bytes', '{"a":é}', /byte 5 .* found `é`, expected a value/],
];
for (const [what, text, says] of messages) {
  test(`${what}: the error says what was found and what was wanted`, () => {
    const error = refusalOf(text);
    assert.match(error?.message ?? '', says);
    const bytes = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
    assert.deepEqual(refusalOf(...bytes), error);
  });
}

test('positions count bytes, lines and columns from the beginning of the body as it was sent', () => {
  const error = refusalOf('\uFEFF{"é":\r\n"ї",', '\n\n  "x" ', '"y"}');
  assert.deepEqual(error?.extensions.position, { offset: 24, line: 4, column: 7 });
});

test('a text that is not UTF-8 is refused where the bad sequence begins', () => {
  const bad = refusalOf('{"a":"é', Uint8Array.of(0xe2, 0x82), '"}');
  assert.deepEqual(bad?.extensions.position, { offset: 8, line: 1, column: 9 });
  assert.match(bad?.message ?? '', /byte 8 .* the byte 0xE2, .* UTF-8/);
  assert.equal(
    refusalOf('{"a":"', Uint8Array.of(0xc0, 0x80), '"}')?.extensions.position?.offset,
    6,
  );
  assert.equal(refusalOf('{}', Uint8Array.of(0xf0, 0x9f))?.extensions.position?.offset, 2);
});

test('the memory of a piece may be used again for the next one', () => {
  const text = Buffer.from('{"a":"тиша 🌱"}');
  const memory = Buffer.alloc(1);
  const scanner = new JsonScanner(new JsonHandler());
  for (const byte of text) {
    memory[0] = byte;
    scanner.feed(memory);
  }
  scanner.end();
});

test('of a syntax error and invalid UTF-8 the first one is reported', () => {
  assert.equal(refusalOf('{x', Uint8Array.of(0xff))?.extensions.position?.offset, 1);
});

test('one byte order mark is dropped, also when it comes in pieces', () => {
  assert.equal(
    refusalOf(Uint8Array.of(0xef), Uint8Array.of(0xbb), Uint8Array.of(0xbf), '{}'),
    undefined,
  );
});

test('any value is a JSON text, numbers too, which only the end of the text ends', () => {
  for (const text of ['0', '-1.5e+10', ' true ', 'null', '""', '[]', '{}', '1E400']) {
    assert.equal(refusalOf(text), undefined, text);
    assert.equal(refusalOf(...text.split('')), undefined, text);
  }
  for (const text of ['-', '1.', '1e', '1e+', 'tru']) assert.ok(refusalOf(text), text);
});
