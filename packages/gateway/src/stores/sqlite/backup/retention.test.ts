import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseRetention, retained } from './retention.ts';

const AT = [
  '2026-01-31T23-59-00',
  '2026-02-01T00-00-00',
  '2026-02-01T10-10-00',
  '2026-02-01T10-50-00',
];
const BACKUPS = [...AT, '2026-02-02T03-00-00'].map((time) => `/backups/${time}.000Z.backup`);

function kept(rule: string): number[] {
  const retention = parseRetention(rule);
  assert.ok(retention);
  const files = retained(BACKUPS, retention);
  return BACKUPS.flatMap((file, index) => (files.has(file) ? [index] : []));
}

test('a number keeps the newest backups', () => {
  assert.deepEqual(kept('2'), [3, 4]);
  assert.deepEqual(kept('100'), [0, 1, 2, 3, 4]);
});

test('a period keeps its newest backup', () => {
  assert.deepEqual(kept('1d'), [4]);
  assert.deepEqual(kept('2d'), [3, 4]);
  assert.deepEqual(kept('3h'), [1, 3, 4]);
  assert.deepEqual(kept('2w'), [3, 4], 'weeks begin on Monday');
  assert.deepEqual(kept('2m'), [0, 4]);
});

test('several rules keep what each of them keeps', () => {
  assert.deepEqual(kept('1,2d,2m'), [0, 3, 4]);
});

test('what is no rule is refused', () => {
  for (const text of ['', '0', 'd', '7x', '7,', '-1', '1.5d'])
    assert.equal(parseRetention(text), undefined, text);
});
