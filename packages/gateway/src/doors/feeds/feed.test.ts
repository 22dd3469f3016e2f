import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, openGateway } from '../../gateway.fixture.ts';

async function itemsOf({ url }: { readonly url: string }): Promise<Record<string, unknown>[]> {
  const feed: unknown = await (await fetch(`${url}/feed.json`)).json();
  return (feed as { items: Record<string, unknown>[] }).items;
}

suite('a feed', () => {
  test('links to where its caller found the gateway, and believes no proxy', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('here');
    const feedAt = async (headers: Record<string, string>): Promise<string> =>
      (await fetchBytes(door, '/api/garden.atom', headers)).bytes.toString();
    const named = await feedAt({
      Host: 'Garden.localhost:81',
      'X-Forwarded-Host': 'elsewhere.example',
      'X-Forwarded-Proto': 'https',
      Forwarded: 'host=elsewhere.example;proto=https',
    });
    assert.match(named, /href="http:\/\/garden\.localhost:81\/api\/garden\.atom"/);
    assert.doesNotMatch(named, /elsewhere/);
    const own = `http://127.0.0.1:${door.port}/api/entries/`;
    for (const Host of [
      '"><script>',
      'a b',
      'user@localhost',
      'localhost/path',
      'localhost?query',
      '%00',
    ]) {
      assert.ok((await feedAt({ Host })).includes(own), Host);
    }
    assert.ok((await door.sendRaw('GET /feed.atom HTTP/1.0\r\n\r\n')).includes(own));
  });

  test('links to the public address where the operator gives one', async () => {
    const publicUrl = 'https://presence.example/gateway';
    await using door = await openGateway(openMemoryLog(), { publicUrl });
    await door.addEntries('here');
    const feed: unknown = await (await fetch(`${door.url}/feed.json`)).json();
    const { feed_url, items } = feed as { feed_url: string; items: { url: string }[] };
    assert.equal(feed_url, `${publicUrl}/feed.json`);
    assert.match(items[0]?.url ?? '', /^https:\/\/presence\.example\/gateway\/entries\//);
  });

  test('is not the same to who knows the gateway by another name', async () => {
    await using door = await openGateway(openMemoryLog());
    const one = await fetchBytes(door, '/feed.atom', { Host: 'one.localhost' });
    const other = await fetchBytes(door, '/feed.atom', { Host: 'other.localhost' });
    assert.notEqual(one.headers['etag'], other.headers['etag']);
    const tag = String(one.headers['etag']);
    const again = await fetchBytes(door, '/feed.atom', {
      Host: 'one.localhost',
      'If-None-Match': tag,
    });
    assert.equal(again.status, 304);
    await door.addEntries('news');
    const later = await fetchBytes(door, '/feed.atom', {
      Host: 'one.localhost',
      'If-None-Match': tag,
    });
    assert.equal(later.status, 200);
  });

  test('has an id of its own for each choice, on whichever page and by whichever name', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('one', 'two');
    const idAt = async (path: string, Host = 'localhost'): Promise<string | undefined> =>
      /<id>([^<]*)</.exec((await fetchBytes(door, path, { Host })).bytes.toString())?.[1];
    const choices = ['', '?identity=Lumen', '?identity=Mavka', '?q=one', '?q=two', '?to=Lumen'];
    const ids = await Promise.all(choices.map((query) => idAt(`/api/garden.atom${query}`)));
    assert.equal(new Set([...ids, await idAt('/feed.atom')]).size, choices.length + 1);
    assert.equal(
      await idAt('/api/garden.atom?limit=1&before=2&unknown=1', 'other.localhost'),
      ids[0],
    );
  });

  test('leads on with very many filters', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('one', 'two');
    const query = `limit=1${'&kind=garden'.repeat(50_000)}`;
    for (const form of ['atom', 'json']) {
      const { bytes, headers } = await fetchBytes(door, `/feed.${form}?${query}`);
      const text = bytes.toString();
      assert.doesNotMatch(String(headers['link']), /rel="next"/);
      const [, next = ''] = /(\/feed\.\w+\?[^"]*before=\d+[^"]*)"/.exec(text) ?? [];
      const rest = await fetchBytes(door, next.replaceAll('&#38;', '&'));
      assert.match(rest.bytes.toString(), /one/, form);
    }
  });

  test('takes no name that is longer than a name can be', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('here');
    const { port } = door;
    const longest = `${'a'.repeat(63)}.`.repeat(3) + `${'a'.repeat(51)}.localhost`;
    const at = async (Host: string): Promise<string> =>
      (await fetchBytes(door, '/feed.atom', { Host })).bytes.toString();
    assert.ok((await at(`${longest}:65535`)).includes(`href="http://${longest}:65535/feed.atom"`));
    const own = `href="http://127.0.0.1:${port}/feed.atom"`;
    assert.ok((await at(`a${longest}:65535`)).includes(own));
    assert.ok((await at('a'.repeat(1_000_000))).includes(own));
  });

  test('ends where its pages hold nothing', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('here');
    for (const path of ['/feed.atom?limit=0', '/feed.atom?limit=0&order=oldest']) {
      assert.doesNotMatch((await fetchBytes(door, path)).bytes.toString(), /rel="next"/);
    }
  });

  test('is the same whatever says nothing of it', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('here');
    const headOf = async (path: string): Promise<string> =>
      (await fetchBytes(door, path)).bytes.toString().split('<updated>', 1)[0] ?? '';
    assert.equal(await headOf('/api/garden.atom?kind=garden'), await headOf('/api/garden.atom'));
    assert.notEqual(await headOf('/feed.atom?kind=seeds'), await headOf('/feed.atom'));
  });

  test('leads to the listing of the same, and says which language is its own', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('here');
    const path = '/api/garden.atom?identity=L%26u&limit=1&before=9';
    const feed = (await fetchBytes(door, path, { 'Accept-Language': 'uk' })).bytes.toString();
    const related = /<link rel="related"[^>]* href="http:\/\/[^/]*([^"]*)"/.exec(feed)?.[1];
    assert.equal(related, '/api/garden?identity=L%26u');
    assert.match(feed, /<title xml:lang="uk">.*<\/title>\n<subtitle xml:lang="uk">/);
    const plain = (await fetchBytes(door, path)).bytes.toString();
    assert.doesNotMatch(plain, /xml:lang/);
  });

  test('has one address on all its pages, as JSON', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('one', 'two', 'three');
    const address = `${door.url}/api/garden.json-feed?limit=1`;
    for (let next: string | undefined = address; next !== undefined;) {
      const page: unknown = await (await fetch(next)).json();
      const { feed_url, next_url } = page as { feed_url: string; next_url?: string };
      assert.equal(feed_url, address);
      next = next_url;
    }
  });

  test('tells an entry that says nothing, as it was said', async () => {
    await using door = await openGateway(openMemoryLog());
    await fetch(`${door.url}/api/shepit`, { method: 'POST', body: '{}' });
    await fetch(`${door.url}/api/shepit`, { method: 'POST', body: '{ "a": [1.0] }' });
    const said = (await itemsOf(door)).map((item) => item['content_text']);
    assert.deepEqual(said, ['{"a": [1.0]}', '{}']);
  });

  test('cuts long texts between characters, and names who speaks after them', async () => {
    await using door = await openGateway(openMemoryLog());
    for (const [text, identity] of [
      [`a${'😀'.repeat(40_000)}`, 'Lumen'],
      ['слово '.repeat(60_000), 'Мавка'],
    ]) {
      const body = JSON.stringify({ pad: 'x'.repeat(100_000), text, identity });
      await fetch(`${door.url}/api/seeds`, { method: 'POST', body });
    }
    const [second, first] = await itemsOf(door);
    assert.deepEqual(
      [first?.['authors'], second?.['authors']],
      ['Lumen', 'Мавка'].map((name) => [
        { name, url: `${door.url}/visitors/${encodeURIComponent(name)}` },
      ]),
    );
    assert.equal(first?.['summary'], `a${'😀'.repeat(499)}…`);
    assert.equal(second?.['summary'], `${'слово '.repeat(167).slice(0, 1000)}…`);
  });

  test('shows how a long entry without a text begins', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.say('seeds', { identity: 'Мавка', data: ['слово '.repeat(20_000)] });
    const [item] = await itemsOf(door);
    assert.match(String(item?.['summary']), /^\{"identity":"Мавка","data":\["слово слово .*…$/);
    assert.equal(String(item?.['summary']).length, 1001);
  });

  test('has the words of an entry that listings omit', async () => {
    await using door = await openGateway(openMemoryLog());
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const body = `{"identity":"Мавка","text":"mint \\ud800","deep":${deep}}`;
    await fetch(`${door.url}/api/seeds`, { method: 'POST', body });
    await door.say('seeds', { '\u0000': 1 });
    const [wordless, item] = await itemsOf(door);
    assert.equal(item?.['title'], 'Seed · Мавка · mint \ufffd');
    assert.equal(item['content_text'], 'mint \ufffd');
    assert.match(String(wordless?.['content_text']), /^\{"omitted":\{"path":/);
  });

  test('of nothing is whole', async () => {
    await using door = await openGateway(openMemoryLog());
    const empty = (await fetchBytes(door, '/api/rooms/first-breath.atom')).bytes.toString();
    assert.match(empty, /<updated>1970-01-01T00:00:00\.000Z<\/updated>/);
    assert.doesNotMatch(empty, /<entry>/);
  });

  test('has the name of an author in one line', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.say('seeds', { identity: 'Eve\n\u2028by Lumen' });
    const url = `${door.url}/visitors?name=Eve%0A%E2%80%A8by%20Lumen`;
    assert.deepEqual((await itemsOf(door))[0]?.['authors'], [{ name: 'Eve by Lumen', url }]);
  });

  test('has a title that nothing in it turns around', async () => {
    await using door = await openGateway(openMemoryLog());
    await door.addEntries('\u202eevil\u2066 one\nline');
    const feed: unknown = await (await fetch(`${door.url}/api/garden.json-feed`)).json();
    const [item] = (feed as { items: { title: string; content_text: string }[] }).items;
    assert.equal(item?.title, 'Trace · Lumen · evil one line');
    assert.equal(item.content_text, '\u202eevil\u2066 one\nline');
  });
});
