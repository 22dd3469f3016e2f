import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';

import { packCases, unpackCases } from './message.ts';

const ORIGIN = { publisher: '0'.repeat(32), number: 1, settled: 0, sent: 0 };
const PLACE = {
  ...ORIGIN,
  nonce: new Uint8Array(32),
  position: 1,
  time: 5,
  kind: 'cases',
} as const;

test('cases of any number of entries come as they were sent, in payloads that a server takes', () => {
  let last = 0;
  const many = Array.from({ length: 1_000_000 }, () => (last += randomInt(1, 1000)));
  const few = { seqs: [7, 3], reason: 'An appeal', state: 'shown' } as const;
  const sent = [{ seqs: many, reason: 'A flood', state: 'hidden' } as const, few];
  const payloads = packCases(sent);
  assert.ok(payloads.length > 1 && payloads.every(({ length }) => length < 1024 * 1024));
  const cases = payloads.flatMap((payload) => unpackCases({ ...PLACE, payload }));
  const received = cases.filter(({ state }) => state === 'hidden').flatMap(({ seqs }) => seqs);
  assert.equal(received.join(), many.join());
  assert.deepEqual(cases.at(-1), { ...few, seqs: [3, 7], time: 5 });
  assert.equal(packCases([few]).length, 1);
});
