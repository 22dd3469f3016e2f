import assert from 'node:assert/strict';
import { openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { causeOf, isStorageFault } from './storage-fault.ts';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing is thrown');
}

const memory = new DatabaseSync(':memory:');
const closed = new DatabaseSync(':memory:');
closed.close();

describe('faults of disks and files', () => {
  const faults: readonly (readonly [string, string, () => unknown])[] = [
    ['a missing file', 'ENOENT', () => openSync('/proc/none', 'r')],
    ['a file that cannot be removed', 'EPERM', () => rmSync('/proc/self/stat', { force: true })],
    ['a database that cannot be opened', 'SQLite 14', () => new DatabaseSync('/proc/none')],
    [
      'a number that no row of ours has',
      'ERR_OUT_OF_RANGE',
      () => memory.prepare('SELECT 9007199254740993').get(),
    ],
  ];
  for (const [name, code, action] of faults) {
    it(`include ${name}`, () => {
      const error = thrownBy(action);
      assert.ok(isStorageFault(error));
      assert.equal(causeOf(error).code, code);
    });
  }

  const defects: readonly (readonly [string, () => unknown])[] = [
    ['a TypeError', () => (undefined as unknown as string).length],
    ['a RangeError', () => new Uint16Array(new ArrayBuffer(3))],
    ['a failed assertion', () => assert.equal(1, 2)],
    ['invalid JSON', (): unknown => JSON.parse('{')],
    ['the use of a closed database', () => closed.exec('SELECT 1')],
    ['an argument of the wrong type', () => openSync(undefined as unknown as string, 'r')],
  ];
  for (const [name, action] of defects) {
    it(`do not include ${name}`, () => assert.ok(!isStorageFault(thrownBy(action))));
  }
});
