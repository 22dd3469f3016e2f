import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { entryId } from '@open-presence/protocol';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, openGateway } from '../../gateway.fixture.ts';
import { call, fields } from '../mcp/mcp.fixture.ts';

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

suite('one entry', () => {
  test('has a strong tag for each encoding, and never changes', async () => {
    await using gateway = await open();
    await gateway.addEntries('again '.repeat(1000), 'x'.repeat(3_000_000));
    const listing = await fetchBytes(gateway, '/api/garden');
    const ids = [...listing.bytes.toString().matchAll(/^\{"id":"([^"]+)"/gm)];
    assert.equal(ids.length, 2);
    for (const [, id = ''] of ids) {
      const path = `/api/entries/${id}`;
      const plain = await fetchBytes(gateway, path);
      const packed = await fetchBytes(gateway, path, { 'Accept-Encoding': 'gzip' });
      assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
      assert.equal(plain.headers['etag'], `"${id}"`);
      assert.equal(packed.headers['etag'], `"${id}-gzip"`);
      assert.match(String(plain.headers['cache-control']), /no-cache/);
      const tag = { 'If-None-Match': `"${id}"` };
      assert.equal((await fetchBytes(gateway, path, tag)).status, 304);
      assert.equal(
        (await fetchBytes(gateway, path.toUpperCase().replace('/API/ENTRIES', '/api/entries')))
          .status,
        200,
      );
    }
  });

  test('that does not exist is not found, whatever its id looks like', async () => {
    await using gateway = await open();
    await gateway.addEntries('one');
    const near = entryId(Date.now(), 1, 0);
    for (const id of ['2', 'x', near, entryId(Date.now(), 2 ** 47, 5), '%00', 'é'.repeat(1000)]) {
      const answer = await fetchBytes(gateway, `/api/entries/${encodeURI(id)}`);
      assert.equal(answer.status, 404, id);
      assert.match(answer.bytes.toString(), /"not-found"/);
    }
  });
});

suite('an entry that others answer', () => {
  const asked = async (gateway: Awaited<ReturnType<typeof open>>, path: string): Promise<unknown> =>
    JSON.parse((await fetchBytes(gateway, path)).bytes.toString());

  test('is named by its seq wherever by its id, but by no entry before it', async () => {
    await using gateway = await open();
    const author = { identity: 'Lumen', identityType: 'ai' };
    const early = await gateway.say('garden', { text: 'early', ...author, inReplyTo: 2 });
    const root = await gateway.say('garden', { text: 'root', ...author });
    const number = await gateway.say('seeds', { text: 'a', inReplyTo: 2 });
    const digits = await gateway.say('seeds', { text: 'b', inReplyTo: '2' });
    const idsIn = async (path: string): Promise<unknown> =>
      [...JSON.stringify(await asked(gateway, path)).matchAll(/{"id":"([^"]+)"/g)].map(
        ([, id]) => id,
      );
    assert.deepEqual(await idsIn('/api/entries/2'), [root]);
    assert.deepEqual(await idsIn('/api/entries/2/replies'), [digits, number]);
    assert.deepEqual(await idsIn(`/api/entries/${root}/replies`), [digits, number]);
    assert.deepEqual(await idsIn('/api/seeds?inReplyTo=2'), [digits, number]);
    for (const thread of ['2', '4', root])
      assert.deepEqual(await idsIn(`/api/entries?thread=${thread}`), [digits, number, root]);
    assert.deepEqual(await idsIn('/api/entries?thread=1'), [early]);
    assert.deepEqual(await idsIn('/api/entries?concerns=Lumen'), [digits, number]);
    const { concerns } = fields(await asked(gateway, '/api/catch-up?identity=Lumen'));
    assert.match(JSON.stringify(concerns), new RegExp(`"why":\\["reply"\\].*"id":"${root}"`));
    assert.match((await call(gateway, 'get_entry', '{"id":2}')).texts.join(), /"root"/);
    assert.deepEqual(await asked(gateway, '/api/entries/3?with=replies'), {
      ...fields(await asked(gateway, `/api/entries/${number}`)),
      root,
      replies: 0,
    });
  });

  test('says what began its thread, and how many answer it, alone and in listings', async () => {
    await using gateway = await open();
    const ids: string[] = [];
    for (const answered of [undefined, 0, 1, 1, 0]) {
      const inReplyTo = answered === undefined ? undefined : ids[answered];
      const body = { text: 'mint', identity: 'Lumen', identityType: 'ai', inReplyTo };
      ids.push(await gateway.say('garden', body));
    }
    const [root = '', first = ''] = ids;
    const one = await fetchBytes(gateway, `/api/entries/${first}?with=replies`);
    assert.match(String(one.headers['etag']), /-2"$/);
    assert.match(one.bytes.toString(), new RegExp(`"root":"${root}","replies":2,"text":"mint"`));
    const all = (await asked(gateway, `/api/entries?with=replies&order=oldest`)) as {
      entries: { root: string; replies: number }[];
    };
    assert.deepEqual(
      all.entries.map(({ root: began, replies }) => [began, replies]),
      [2, 2, 0, 0, 0].map((count) => [root, count]),
    );
    const refused = await fetchBytes(gateway, '/api/entries?with=answers');
    assert.equal(refused.status, 400);
  });

  test('leads to its whole thread, whichever of them is named', async () => {
    await using gateway = await open();
    const root = await gateway.say('garden', { text: 'a', identity: 'A', identityType: 'ai' });
    const next = await gateway.say('seeds', { text: 'b', inReplyTo: root });
    await gateway.say('seeds', { text: 'another' });
    const last = await gateway.say('shepit', { text: 'c', inReplyTo: `/entries/${next}` });
    for (const named of [root, next, last, `urn:uuid:${last}`]) {
      const { bytes } = await fetchBytes(gateway, `/api/entries?thread=${named}&order=oldest`);
      const ids = [...bytes.toString().matchAll(/^\{"id":"([^"]+)"/gm)].map(([, id]) => id);
      assert.deepEqual(ids, [root, next, last]);
    }
    assert.equal((await fetchBytes(gateway, '/api/entries?thread=nothing')).status, 400);
    const unknown = await asked(gateway, `/api/entries?thread=${entryId(Date.now(), 1, 0)}`);
    assert.deepEqual((unknown as { entries: unknown[] }).entries, []);
  });
});

suite('texts of the language file', () => {
  test('are sent in the caller’s locale', async () => {
    await using gateway = await open();
    for (const path of ['/api', '/api/rooms', '/api/discover', '/nowhere', '/api/rooms/none']) {
      const uk = await fetchBytes(gateway, path, { 'Accept-Language': 'uk-UA, en;q=0.5' });
      const en = await fetchBytes(gateway, path, { 'Accept-Language': 'de, en-GB;q=0.3' });
      const shown = await fetchBytes(gateway, path, { 'Accept-Language': 'de' });
      assert.equal(uk.headers['content-language'], 'uk');
      assert.equal(en.headers['content-language'], 'en');
      assert.equal(shown.headers['content-language'], undefined);
      for (const { headers } of [uk, en, shown]) {
        assert.match(String(headers['vary']), /Accept-Language/);
      }
      assert.match(uk.bytes.toString(), /[а-яіїє]/);
    }
  });
});
