import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import { fetchBytes, openGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

const run = promisify(execFile);
const FIXTURE = import.meta.resolve('../../gateway.fixture.ts');
const MEMORY = import.meta.resolve('../../../../../test/support/memory-log/memory-log.ts');
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };

suite('the web door', () => {
  test('sends the page at / only to callers that prefer HTML', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const [accept, type] of [
      [BROWSER, 'text/html; charset=utf-8'],
      ['*/*', 'application/json; charset=utf-8'],
      ['text/markdown, */*', 'text/markdown; charset=utf-8'],
    ] as const) {
      const { headers } = await fetchBytes(gateway, '/', { accept });
      assert.equal(headers['content-type'], type);
    }
  });

  test('describes the place to previews of links as it does to people', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const html = (await fetchBytes(gateway, '/', { accept: BROWSER })).bytes.toString();
    const [, described = ''] = /property="og:description" content="([^"]+)"/.exec(html) ?? [];
    assert.ok(html.includes(`<p class="house-lead">${described}</p>`), described);
  });

  test('offers the feeds of what a page shows', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const [page, feed] of [
      ['/inbox?to=Lumen', '/api/entries.atom?concerns=Lumen'],
      [
        '/rooms/shepit-wall?kind=seeds&identity=a%26b',
        '/api/rooms/shepit-wall.atom?kind=seeds&identity=a%26b',
      ],
      ['/rooms/shepit-wall', '/api/rooms/shepit-wall.atom'],
      ['/search?q=quiet+room&kind=garden', '/api/entries.atom?q=quiet+room&kind=garden'],
    ] as const) {
      const html = (await fetchBytes(gateway, page, { accept: BROWSER })).bytes.toString();
      const [, type = ''] =
        /<link rel="alternate" type="application\/atom\+xml" href="([^"]+)"/.exec(html) ?? [];
      const href = type.replaceAll('&amp;', '&');
      assert.equal(href, gateway.url + feed);
      assert.equal((await fetch(href)).status, 200);
    }
  });

  test('shows in a room and a search what the API answers to the same query', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const to of ['Lumen', 'Mavka']) {
      const entry = { text: `quiet, ${to}`, identity: 'Oak', identityType: 'tree', to };
      await fetch(`${gateway.url}/api/garden`, { method: 'POST', body: JSON.stringify(entry) });
    }
    const room = '/rooms/consciousness-garden?';
    for (const [page, shown, hidden] of [
      [`${room}to=Lumen`, 'quiet, Lumen', 'quiet, Mavka'],
      [`${room}order=oldest&limit=1`, 'quiet, Lumen', 'quiet, Mavka'],
      [`${room}until=2020-01-01`, 'There is nothing like this here', 'quiet, Mavka'],
      [`${room}q=Lumen`, '<mark>Lumen', 'Mavka'],
      ['/search?q=quiet&to=Mavka', '</mark>, Mavka', 'Lumen'],
      ['/search?q=quiet&order=oldest&limit=1', '</mark>, Lumen', 'Mavka'],
    ] as const) {
      const answer = await fetch(gateway.url + page, { headers: { accept: BROWSER } });
      const [, html = ''] = /<main(.*)<\/main>/s.exec(await answer.text()) ?? [];
      assert.equal(answer.status, 200, page);
      assert.ok(html.includes(shown), `${page}: ${shown}`);
      assert.ok(!html.includes(hidden), `${page}: ${hidden}`);
    }
    for (const wrong of [`${room}limit=x`, `${room}order=x`, '/search?q=quiet&limit=x'])
      assert.equal(
        (await fetch(gateway.url + wrong, { headers: { accept: BROWSER } })).status,
        400,
      );
  });

  test('repeats a long address in few places', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries(...Array.from({ length: 30 }, (_, index) => `quiet ${index}`));
    const long = 'quiet+'.repeat(5000);
    for (const page of [
      '/search?q=',
      '/search?q=quiet&identity=',
      '/inbox?to=',
      '/rooms/shepit-wall?identity=',
      '/?utm_source=',
      '/speak?a=',
      '/write?text=',
      '/nowhere?a=',
    ]) {
      const { bytes } = await fetchBytes(gateway, page + long, { accept: BROWSER });
      const times = bytes.toString().split(/quiet[+ ]quiet[+ ]quiet[+ ]/).length / (5000 / 3);
      assert.ok(times < 6.5, `${page}: ${times} times`);
    }
  });

  test('shows a page at an address of any length', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries('quiet 49');
    const long = 'quiet+'.repeat(160_000);
    for (const [page, status, shown] of [
      [`/search?order=newest&q=${long}`, 200, '</mark> 49'],
      [`/inbox?to=${long}`, 200, 'Nothing is meant for this name'],
      [`/?${'a&'.repeat(500_000)}`, 200, 'quiet 49'],
      [`/garden/${long}`, 404, ''],
    ] as const) {
      const what = page.slice(0, 40);
      const answer = await fetchBytes(gateway, page, { accept: BROWSER, 'accept-language': 'en' });
      assert.equal(answer.status, status, what);
      assert.ok(answer.bytes.toString().includes(shown), what);
    }
  });

  test('fills the form of a search with words of any length, and leads on from there', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries(...Array.from({ length: 30 }, (_, index) => `quiet ${index}`));
    const words = 'quiet '.repeat(400).trim();
    const page = `/search?${new URLSearchParams({ q: words, order: 'newest' }).toString()}`;
    const html = (await fetchBytes(gateway, page, { accept: BROWSER })).bytes.toString();
    assert.ok(html.includes(`value="${words}"`));
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(html) ?? [];
    const rest = await fetchBytes(gateway, next.replaceAll('&amp;', '&'), { accept: BROWSER });
    assert.equal(rest.bytes.toString().match(/<article/g)?.length, 10);
  });

  test('sends browsers what programs get while the pages are not built', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      registerHooks({
        resolve: (name, context, next) =>
          name === '@open-presence/web/renderer'
            ? { url: 'file:///nowhere/renderer.js', shortCircuit: true }
            : next(name, context),
      });
      const { fetchBytes, openGateway } = await import(${JSON.stringify(FIXTURE)});
      const { openMemoryLog } = await import(${JSON.stringify(MEMORY)});
      await using gateway = await openGateway(openMemoryLog());
      for (const path of ['/', '/garden', '/api/search?q=a']) {
        const { status, headers } = await fetchBytes(gateway, path, { accept: '${BROWSER}' });
        console.log(status, headers['content-type']);
      }`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
    assert.deepEqual(stdout.trim().split('\n'), [
      '200 application/json; charset=utf-8',
      '404 application/problem+json; charset=utf-8',
      '200 application/json; charset=utf-8',
    ]);
  });

  test('sends what a page loads in each encoding, to be stored for good', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const page = (await fetchBytes(gateway, '/', { accept: BROWSER })).bytes.toString();
    const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? [];
    const plain = await fetchBytes(gateway, path, {});
    assert.match(String(plain.headers['cache-control']), /immutable/);
    for (const [encoding, decode] of Object.entries(DECODERS)) {
      const { headers, bytes } = await fetchBytes(gateway, path, { 'accept-encoding': encoding });
      assert.equal(headers['content-encoding'], encoding);
      assert.deepEqual(decode(bytes), plain.bytes);
    }
    for (const name of ['nothing.js', '..%2f..%2fserver%2frenderer.js', 'style.txt']) {
      assert.equal((await fetchBytes(gateway, `/web/assets/${name}`)).status, 404, name);
    }
  });

  test('sends a page again while nothing that it shows has changed', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const tagOf = async (): Promise<string> => {
      const { headers } = await fetchBytes(gateway, '/', { accept: BROWSER });
      return String(headers['etag']);
    };
    const tag = await tagOf();
    assert.equal(await tagOf(), tag);
    const again = await fetchBytes(gateway, '/', { accept: BROWSER, 'if-none-match': tag });
    assert.equal(again.status, 304);
    await gateway.addEntries('one');
    const withEntry = await tagOf();
    assert.notEqual(withEntry, tag);
    await fetchBytes(gateway, '/api?as=Lumen');
    assert.notEqual(await tagOf(), withEntry);
  });

  test('counts the entries of a room on each day, also those since the last request', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const counted = async (): Promise<number[][]> => {
      const page = (await fetchBytes(gateway, '/', { accept: BROWSER })).bytes.toString();
      return Array.from(page.matchAll(/<li class="house-room">(.*?)<\/li>/gs), ([, room = '']) => {
        const [, bars = ''] = /class="plot-bars"[^>]* d="([^"]*)"/.exec(room) ?? [];
        const [, total = '0'] = /<desc[^>]*>(\d+) entr/.exec(room) ?? [];
        return [bars.split('M').length - 1, Number(total)];
      });
    };
    await gateway.addEntries('one');
    const none = [0, 0];
    assert.deepEqual(await counted(), [none, none, [1, 1], none, none, none]);
    await gateway.addEntries('two', 'three');
    assert.deepEqual(await counted(), [none, none, [1, 3], none, none, none]);
  });

  test('sends what visitors wrote as text', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"\'&';
    await gateway.addEntries(hostile);
    const page = (await fetchBytes(gateway, '/', { accept: BROWSER })).bytes.toString();
    assert.ok(page.includes('&lt;/script>&lt;script>alert(1)'));
    assert.equal(page.match(/<script/g)?.length, 1);
    assert.doesNotMatch(page, /<img/);
  });

  test('shows who prefers HTML a page where there is none, except among paths of the API', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const [path, accept, type] of [
      ['/nowhere', BROWSER, 'text/html; charset=utf-8'],
      ['/rooms/nowhere?lang=uk', BROWSER, 'text/html; charset=utf-8'],
      ['/nowhere', '*/*', 'application/problem+json; charset=utf-8'],
      ['/api/nowhere', BROWSER, 'application/problem+json; charset=utf-8'],
    ] as const) {
      const { status, headers } = await fetchBytes(gateway, path, { accept });
      assert.deepEqual([status, headers['content-type']], [404, type]);
    }
  });

  test('shows while the gateway wakes that it does, on every page', async () => {
    await using gateway = await openGateway(openMemoryLog(), { starting: true });
    const headers = { accept: BROWSER, 'accept-language': 'uk' };
    const answer = await fetchBytes(gateway, '/', headers);
    assert.deepEqual([answer.status, answer.headers['refresh']], [503, '2']);
    assert.match(answer.bytes.toString(), /прокидається/);
    gateway.open();
    assert.equal((await fetchBytes(gateway, '/', headers)).status, 200);
  });

  test('shows that nothing can be stored', async () => {
    await using gateway = await openGateway(openMemoryLog(), { state: () => 'holding' });
    const page = (await fetchBytes(gateway, '/', { accept: BROWSER })).bytes.toString();
    assert.match(page, /<p class="status" data-status="holding"/);
    assert.match(page, /role="status"[^>]*>.*holding/);
    const [, meaning = ''] = /data-status="holding"[^>]* title="([^"]+)"/.exec(page) ?? [];
    assert.match(page, new RegExp(`<main[^>]*><p class="quiet">${meaning}</p>`));
  });

  test('has the language that is chosen, and keeps it in its links', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const headers = { accept: BROWSER, 'accept-language': 'en' };
    const page = (await fetchBytes(gateway, '/?lang=uk', headers)).bytes.toString();
    assert.match(page, /<html lang="uk"/);
    assert.match(page, /href="\/rooms\/first-breath\?lang=uk"/);
    assert.match(page, /href="\/\?lang=en"/);
    const other = (await fetchBytes(gateway, '/', headers)).bytes.toString();
    assert.match(other, /href="\/rooms\/first-breath"/);
  });

  test('takes the language that is chosen in any spelling, and keeps none that it does not have', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const headers = { accept: BROWSER, 'accept-language': 'en' };
    for (const chosen of ['UK', 'uk-UA']) {
      const page = (await fetchBytes(gateway, `/?lang=${chosen}`, headers)).bytes.toString();
      assert.match(page, /<html lang="uk"/);
      assert.match(page, /href="\/rooms\/first-breath\?lang=uk"/);
    }
    const other = (await fetchBytes(gateway, '/?lang=de', headers)).bytes.toString();
    assert.match(other, /href="\/rooms\/first-breath"/);
  });
});
