import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../stores/memory/memory.ts';
import { hasPages } from '../web.ts';

suite('parameters of pages', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('that order a search are shown in its form, and it ends with the last result', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const text of ['quiet', 'quiet too']) await gateway.say('seeds', { text });
    const search = `${gateway.url}/search?q=quiet&order=oldest&lang=en`;
    const [all, first] = [await htmlOf(search), await htmlOf(`${search}&limit=1`)];
    assert.match(all, /<option value="oldest" selected>oldest first</);
    assert.deepEqual([/rel="next"/.test(all), /rel="next"/.test(first)], [false, true]);
  });
});

async function htmlOf(address: string): Promise<string> {
  const answer = await fetch(address, { headers: { Accept: 'text/html' } });
  assert.equal(answer.status, 200, address);
  return await answer.text();
}
