import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../stores/memory/memory.ts';
import { GUESSED_PATHS } from './guessed-paths.ts';

test('each guess is unknown, and answered with a path that is there', async () => {
  await using gateway = await openGateway(openMemoryLog());
  const headers = { accept: 'application/json' };
  for (const [guess, path] of GUESSED_PATHS) {
    const answer = await fetch(gateway.url + guess, { headers });
    assert.equal(answer.status, 404, guess);
    assert.deepEqual(((await answer.json()) as { known: string[] }).known, [path]);
  }
  for (const path of new Set(GUESSED_PATHS.values())) {
    const answer = await fetch(gateway.url + path, { method: 'OPTIONS' });
    assert.equal(answer.status, 204, path);
  }
});

test('a POST to the address itself is told where entries go', async () => {
  await using gateway = await openGateway(openMemoryLog());
  for (const path of ['/', '/api']) {
    const answer = await fetch(gateway.url + path, { method: 'POST', body: '{}' });
    assert.equal(answer.status, 405);
    assert.match(await answer.text(), /POST a first contact to \/api\/resonance/);
  }
});
