import assert from 'node:assert/strict';
import { test } from 'node:test';

import { endure } from './endurance.fixture.ts';

test('a client stores and follows each entry once, whatever happens to gateway and connections', async () => {
  assert.ok((await endure(400, 2)) > 0, 'connections were cut');
});
