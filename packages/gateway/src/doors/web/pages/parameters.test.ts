import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

suite('parameters of pages', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('that choose what is searched stay with the form, which names those that have no field', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const query = 'q=quiet&kind=seeds&kind=garden&identity=Lumen&since=2026-11-21&to=Weft&before=9';
    const page = await htmlOf(`${gateway.url}/search?${query}`);
    assert.match(page, /Only with <code[^>]*>kind=garden since=2026-11-21 to=Weft</);
    const [, form = ''] = /<form class="query(.*?)<\/form>/s.exec(page) ?? [];
    const hidden = Array.from(form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g));
    assert.equal(
      hidden.map(([, name, value]) => `${name}=${value}`).join(' '),
      'kind=garden since=2026-11-21 to=Weft',
    );
  });

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
