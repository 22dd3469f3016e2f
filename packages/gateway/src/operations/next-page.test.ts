import assert from 'node:assert/strict';
import { test } from 'node:test';

import { withParameter } from './next-page.ts';

test('a parameter is set and removed as URLSearchParams does it', async () => {
  for (const query of ['', 'b=1', 'a=1&b=2&a=3&b=4', 'b=&a&b']) {
    const [set, removed] = [new URLSearchParams(query), new URLSearchParams(query)];
    set.set('b', 'new');
    removed.delete('b');
    assert.equal(
      (await withParameter(new URLSearchParams(query), 'b', 'new')).toString(),
      set.toString(),
    );
    assert.equal((await withParameter(removed, 'b', undefined)).toString(), removed.toString());
    const without = await withParameter(new URLSearchParams(query), 'b', undefined);
    assert.equal(without.toString(), removed.toString());
  }
});

// In quadratic time this would take hours.
test('a parameter that was repeated millions of times is set once', async () => {
  const parameters = new URLSearchParams('before=9&'.repeat(2_000_000));
  assert.equal((await withParameter(parameters, 'before', '5')).toString(), 'before=5');
});
