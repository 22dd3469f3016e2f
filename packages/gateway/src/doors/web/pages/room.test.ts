import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

suite('the page of a room', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('names all filters of its address', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const query = 'kind=garden&identity=Lumen&to=Lumen&identityType=garden&lang=en';
    const page = await htmlOf(`${gateway.url}/rooms/first-breath?${query}`);
    assert.match(page, /Only with <code[^>]*>to=Lumen identityType=garden</);
  });

  test('says without scripts that its times are in UTC', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.say('seeds', { text: 'quiet' });
    const page = await htmlOf(`${gateway.url}/rooms/memory-garden`);
    assert.match(page, /[AP]M<span class="without-script"> UTC<\/span><\/time>/);
  });

  test('is empty at a place beyond the log, as the listing is', async () => {
    await using gateway = await openGateway(openMemoryLog());
    assert.match(await htmlOf(`${gateway.url}/rooms/first-breath?before=9`), /entries-empty/);
  });

  test('shows what lies between two places of its address', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (let at = 1; at <= 6; at += 1) await gateway.say('seeds', { text: `seed ${at}` });
    for (const [order, seeds] of [
      ['newest', '4 3'],
      ['oldest', '3 4'],
    ] as const) {
      const page = await htmlOf(
        `${gateway.url}/rooms/memory-garden?after=2&before=5&order=${order}`,
      );
      const shown = Array.from(page.matchAll(/seed (\d)<\/div>/g), ([, number]) => number);
      assert.equal(shown.join(' '), seeds);
      assert.match(page, /rel="prev"/);
      assert.match(page, /rel="next"/);
    }
    const between = `${gateway.url}/rooms/memory-garden?after=3&before=4`;
    for (const order of ['newest', 'oldest'])
      assert.match(await htmlOf(`${between}&order=${order}`), /entries-empty/);
  });

  test('says that more are here than it names', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (let at = 0; at < 25; at += 1)
      gateway.presence.openStream({ identity: `visitor ${at}`, room: 'first-breath' });
    const page = await htmlOf(`${gateway.url}/rooms/first-breath`);
    const [, names = ''] = /class="room-here"[^>]*>(.*?)<\/p>/s.exec(page) ?? [];
    assert.equal(names.match(/visitor-link/g)?.length, 24);
    assert.match(names, /…$/);
  });
});

async function htmlOf(address: string): Promise<string> {
  const answer = await fetch(address, { headers: { Accept: 'text/html' } });
  assert.equal(answer.status, 200, address);
  return await answer.text();
}
