import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';

import fc from 'fast-check';

import { crc32Combine } from './crc32-combine.ts';

test('the CRC-32 of joined parts follows from those of the parts', () => {
  const part = fc.uint8Array({ maxLength: 5000 });
  fc.assert(
    fc.property(part, part, (first, second) => {
      const combined = crc32Combine(crc32(first), crc32(second), second.length);
      assert.equal(combined, crc32(Buffer.concat([first, second])));
    }),
  );
});

test('the CRC-32 of parts longer than 4 GiB follows from those of their halves', () => {
  const size = 2 ** 20;
  let crc = crc32(Buffer.alloc(size, 'a'));
  const whole = (parts: number): number =>
    Array.from({ length: parts }).reduce<number>((sum) => crc32Combine(sum, crc, size), 0);
  const expected = whole(2 ** 13);
  for (let doubled = size; doubled < 2 ** 33; doubled *= 2) crc = crc32Combine(crc, crc, doubled);
  assert.equal(crc, expected);
});
