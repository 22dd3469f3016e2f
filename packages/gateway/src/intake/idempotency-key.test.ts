import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { hashIdempotencyKey } from './idempotency-key.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

test('a key is hashed, wherever it stands', () => {
  assert.deepEqual(hashIdempotencyKey('abc', null), sha256('abc'));
  assert.deepEqual(hashIdempotencyKey(undefined, 'abc'), sha256('abc'));
  assert.equal(hashIdempotencyKey(undefined, null), undefined);
});

test('the header wins', () => {
  assert.deepEqual(hashIdempotencyKey('abc', 'other'), sha256('abc'));
});

test('a structured field string means what it says without its quotes', () => {
  assert.deepEqual(hashIdempotencyKey('"abc"', null), sha256('abc'));
  assert.deepEqual(hashIdempotencyKey(undefined, '"a\\"b\\\\c"'), sha256('a"b\\c'));
  assert.deepEqual(hashIdempotencyKey('"abc', null), sha256('"abc'));
  assert.deepEqual(hashIdempotencyKey('"a"b"', null), sha256('"a"b"'));
});

test('a key in UTF-8 is the same in a header, which comes byte by byte, and in a parameter', () => {
  assert.deepEqual(
    hashIdempotencyKey(Buffer.from('ключ').toString('latin1'), null),
    hashIdempotencyKey(undefined, 'ключ'),
  );
});

test('an empty key is refused, and may be of any length otherwise', () => {
  assert.throws(() => hashIdempotencyKey('', 'abc'), {
    code: 'invalid-parameter',
    message: /"Idempotency-Key"/,
  });
  assert.throws(() => hashIdempotencyKey(undefined, '""'), {
    code: 'invalid-parameter',
    message: /"idempotency-key"/,
  });
  const long = 'x'.repeat(16e6);
  assert.deepEqual(hashIdempotencyKey(long, null), sha256(long));
  assert.deepEqual(hashIdempotencyKey(`"${long}"`, null), sha256(long));
});
