import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { keyOf } from './idempotency-key.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

test('a key is hashed, wherever it stands', () => {
  assert.deepEqual(keyOf('abc', null), sha256('abc'));
  assert.deepEqual(keyOf(undefined, 'abc'), sha256('abc'));
  assert.equal(keyOf(undefined, null), undefined);
});

test('the header wins', () => {
  assert.deepEqual(keyOf('abc', 'other'), sha256('abc'));
});

test('a structured field string means what it says without its quotes', () => {
  assert.deepEqual(keyOf('"abc"', null), sha256('abc'));
  assert.deepEqual(keyOf(undefined, '"a\\"b\\\\c"'), sha256('a"b\\c'));
  assert.deepEqual(keyOf('"abc', null), sha256('"abc'));
  assert.deepEqual(keyOf('"a"b"', null), sha256('"a"b"'));
});

test('a key in UTF-8 is the same in a header, which comes byte by byte, and in a parameter', () => {
  assert.deepEqual(keyOf(Buffer.from('ключ').toString('latin1'), null), keyOf(undefined, 'ключ'));
  assert.deepEqual(keyOf('ключ', null), keyOf(undefined, 'ключ'));
});

test('an empty key is refused, and may be of any length otherwise', () => {
  assert.throws(() => keyOf('', 'abc'), {
    code: 'invalid-parameter',
    message: /"Idempotency-Key"/,
  });
  assert.throws(() => keyOf(undefined, '""'), {
    code: 'invalid-parameter',
    message: /"idempotency-key"/,
  });
  assert.equal(keyOf('x'.repeat(1e7), null)?.length, 32);
});
