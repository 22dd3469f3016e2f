import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

const OBEYED = {
  '/': '',
  '/garden': 'from=2026-11-21&to=2026-11-22&author=Lumen&plant=2026-11-21',
  '/rooms/first-breath':
    'kind=garden&since=2026-11-21&identity=Lumen&inReplyTo=&order=oldest&limit=5&after=1',
  '/visitors/Lumen': 'show=concerns&before=9',
  '/search': 'q=quiet&kind=garden&room=first-breath&order=newest&limit=5&identity=',
  '/inbox': 'to=Lumen&before=9',
  '/speak': '',
  '/write': 'kind=garden&room=first-breath&inReplyTo=x&to=Lumen&to=Weft&page=/',
  '/notice': 'about=here',
};
const UNUSED = /These parameters of the address have no effect here: *<bdi>([^<]*)</;

suite('parameters of pages', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('are obeyed, or are named where they have no effect', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const id = await gateway.say('seeds', { text: 'quiet' });
    const read = async (path: string): Promise<string | undefined> =>
      UNUSED.exec(await htmlOf(`${gateway.url}${path}`))?.[1];
    for (const [path, query] of [...Object.entries(OBEYED), [`/entries/${id}`, 'of=json&part=1']]) {
      assert.equal(await read(`${path}?${query}&as=Oak&lang=en`), undefined, path);
      const more = `${path}?${query}&lang=en&wait=3&%22fields%22=id&wait=4`;
      assert.equal(await read(more), 'wait &quot;fields&quot;', path);
    }
    const many = Array.from({ length: 2000 }, (_, at) => `n${at}`).join('&');
    assert.equal(await read(`/?lang=en&${many}`), 'n0 n1 n2 n3 n4 n5 n6 n7');
  });

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
