import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { fetchBytes, openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';

suite('pages with a language file of the operator’s', () => {
  test('have forms with the fields that it suggests, whatever their names are', async () => {
    const names = ['mood', 'constructor', '__proto__'];
    const fields = names.map((name) => ({
      name,
      type: 'string' as const,
      required: false,
      suggested: true,
      meaning: { uk: `Поле ${name}`, en: `The field ${name}` },
      example: 'calm',
    }));
    await using gateway = await openGateway(openMemoryLog(), {
      words: ({ kinds }) => ({ kinds: { ...kinds, seeds: { ...kinds.seeds, fields } } }),
    });
    const page = await fetchBytes(gateway, '/write?kind=seeds', { accept: 'text/html' });
    const [form = ''] = /<form.*<\/form>/s.exec(page.bytes.toString()) ?? [];
    for (const name of names) {
      assert.match(form, new RegExp(`The field ${name}<`));
      const answer = await fetch(`${gateway.url}/api/seeds`, {
        method: 'POST',
        body: new URLSearchParams({ [name]: 'calm' }),
      });
      assert.equal(answer.status, 201);
      assert.match(await answer.text(), new RegExp(`"${name}":"calm"`));
    }
  });

  test('have a form to answer an entry whose room is there no more', async () => {
    await using log = openMemoryLog();
    let id = '';
    {
      const words = { uk: 'Передпокій', en: 'Lobby' };
      const lobby = { slug: 'lobby', title: words, description: words };
      await using earlier = await openGateway(log, {
        words: ({ rooms }) => ({ rooms: [...rooms, lobby] }),
      });
      const body = JSON.stringify({ text: 'in the lobby', room: 'lobby' });
      const stored = await fetch(`${earlier.url}/api/seeds`, { method: 'POST', body });
      ({ id } = (await stored.json()) as { id: string });
    }
    await using gateway = await openGateway(log);
    const page = await fetchBytes(gateway, `/entries/${id}`, { accept: 'text/html' });
    const [link = ''] = /\/write\?inReplyTo=[^"]*/.exec(page.bytes.toString()) ?? [];
    const write = await fetchBytes(gateway, link, { accept: 'text/html' });
    const [form = ''] = /<form.*<\/form>/s.exec(write.bytes.toString()) ?? [];
    assert.match(form, new RegExp(`name="inReplyTo" value="${id}"`));
    assert.doesNotMatch(form, /lobby/);
  });

  test('are in the language that it shows to who prefers none', async () => {
    await using gateway = await openGateway(openMemoryLog(), {
      words: ({ service }) => ({ service: { ...service, shown: 'uk' } }),
    });
    for (const [preferred, shown] of [
      ['de', 'uk'],
      ['en', 'en'],
    ] as const) {
      const headers = { accept: 'text/html', 'accept-language': preferred };
      const page = await fetchBytes(gateway, '/', headers);
      assert.match(page.bytes.toString(), new RegExp(`<html lang="${shown}"`));
    }
  });
});
