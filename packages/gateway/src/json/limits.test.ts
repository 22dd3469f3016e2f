import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { isDeeper } from './limits.ts';

suite('the limits of a JSON text', () => {
  test('hold up to where a text stops being JSON', () => {
    assert.equal(isDeeper(Buffer.from('[[x[[[['), 2), false);
  });

  test('find how deep objects and arrays are nested', () => {
    const nested = Buffer.from(`${'[{"a":'.repeat(250)}"[[["${'}]'.repeat(250)}`);
    assert.equal(isDeeper(nested, 500), false);
    assert.equal(isDeeper(nested, 499), true);
    assert.equal(isDeeper(Buffer.from(`[${'[],'.repeat(1000)}0]`), 2), false);
  });
});
