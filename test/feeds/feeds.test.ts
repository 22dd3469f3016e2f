/** Feeds as readers of feeds see them: by parsers and a schema that know nothing of ours. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import { parseAtomFeed, parseJsonFeed } from 'feedsmith';

import { needs } from '../needs.ts';
import { sayOddEntries } from '../readers/odd-members.ts';
import { sharedGateway } from '../shared.ts';

const SCHEMA = join(import.meta.dirname, 'atom.rng');

/** As a visitor may spell them in JSON. */
const HOSTILE = [
  ']]> <![CDATA[ ]]&gt; & &amp; &#0; <!-- -- > <?xml?>',
  '<script>alert(1)</script><b>bold</b> " \' `',
  'left \u202eright\u202c \u2066isolated\u2069 \u200f mark \u061c',
  'nul \u0000 bell \u0007 escape \u001b vertical \u000b unit \u001f delete \u007f next \u0085',
  'lone \ud800 high, lone \udfff low, pair \ud83d\ude00',
  'none \ufffe none \uffff bom \ufeff separators \u2028 \u2029',
  'line\r\nline\rline\n\ttab',
  '',
  ' ',
];

async function said(url: string, kind: string, body: object): Promise<string> {
  const answer = await fetch(`${url}/api/${kind}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { id: string }).id;
}

async function read(address: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(address, { headers });
  const found = await answer.text();
  assert.equal(answer.status, 200, found.slice(0, 400));
  return found;
}

/** Throws what the validator says where the text is no Atom feed document. */
async function validate(xml: string): Promise<void> {
  const child = spawn('xmllint', ['--noout', '--nonet', '--relaxng', SCHEMA, '-']);
  child.stdin.end(xml);
  const [told, code] = await Promise.all([
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  assert.equal(code, 0, told);
}

/** Throws where it breaks a rule of JSON Feed 1.1. */
function validateJson(json: string): Record<string, unknown> {
  const feed = JSON.parse(json) as Record<string, unknown>;
  assert.equal(feed['version'], 'https://jsonfeed.org/version/1.1');
  assert.equal(typeof feed['title'], 'string');
  for (const name of ['home_page_url', 'feed_url', 'next_url']) {
    const url = feed[name];
    if (typeof url === 'string') assert.ok(url.startsWith('http://'), url);
    else assert.equal(url, undefined);
  }
  const ids = new Set<unknown>();
  for (const item of feed['items'] as Record<string, unknown>[]) {
    assert.equal(typeof item['id'], 'string');
    assert.equal(typeof item['content_text'], 'string');
    assert.equal(item['content_html'], undefined);
    assert.ok(!ids.has(item['id']));
    ids.add(item['id']);
    for (const name of ['date_published', 'date_modified']) {
      assert.match(String(item[name]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.ok((item['tags'] as unknown[]).every((tag) => typeof tag === 'string'));
    for (const author of item['authors'] as Record<string, unknown>[]) {
      assert.equal(typeof author['name'], 'string');
    }
  }
  return feed;
}

/** What XML 1.0 cannot carry, as both forms say it where they share it. */
function carried(words: string): string {
  // oxlint-disable-next-line no-control-regex -- it is about them
  const unspeakable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  return words.toWellFormed().replace(unspeakable, '\ufffd');
}

suite('feeds', needs('xmllint'), () => {
  const gateway = sharedGateway();

  test('stay well-formed and say what was said, whatever visitors say', async () => {
    const { url } = gateway;
    const name = 'Hostile <"&\u0000\ud800\u202e\'>';
    const ids: string[] = [];
    for (const words of HOSTILE) {
      ids.push(await said(url, 'garden', { text: words, identity: name, identityType: words }));
    }
    await said(url, 'seeds', { identity: name, deep: [HOSTILE] });
    await said(url, 'resonance', { ai_identity: name, seeking: HOSTILE });
    await said(url, 'shepit', {});
    await sayOddEntries(url);
    const asked = `identity=${encodeURIComponent(name.toWellFormed())}`;
    const xml = await read(`${url}/api/garden.atom?${asked}`);
    await validate(xml);
    await validate(
      await read(`${url}/feed.atom?${asked}&seeking=${encodeURIComponent(HOSTILE[0] ?? '')}`),
    );
    await validate(await read(`${url}/feed.atom`));
    const feed = parseAtomFeed(xml);
    assert.deepEqual(
      feed.entries?.map(({ id }) => id),
      ids.toReversed().map((id) => `urn:uuid:${id}`),
    );
    const json = validateJson(await read(`${url}/api/garden.json-feed?${asked}`));
    const items = json['items'] as { content_text: string }[];
    assert.deepEqual(
      items.map((item) => item.content_text),
      HOSTILE.toReversed().map((words) => words.toWellFormed()),
    );
    // What XML makes of it, read by the other parser.
    for (const [at, words] of HOSTILE.toReversed().entries()) {
      const found = /<content type="text">([^<]*)<\/content>/.exec(
        xml.split('<entry>')[at + 1] ?? '',
      );
      const told = (found?.[1] ?? '').replace(/&#(\d+);/g, (_, code) =>
        String.fromCharCode(Number(code)),
      );
      assert.equal(told, carried(words));
    }
    validateJson(await read(`${url}/feed.json`));
  });

  test('give each entry once, page by page, while others speak', async () => {
    const { url } = gateway;
    const ids: string[] = [];
    for (let at = 0; at < 23; at++) {
      ids.push(await said(url, 'seeds', { text: `seed ${at}`, identity: 'Pager' }));
    }
    const expected = ids.toReversed().map((id) => `urn:uuid:${id}`);
    const found: (string | undefined)[] = [];
    let pages = 0;
    let next: string | undefined = `${url}/api/rooms/memory-garden.atom?identity=Pager&limit=5`;
    let name: string | undefined;
    while (next !== undefined) {
      const xml = await read(next);
      await validate(xml);
      const feed = parseAtomFeed(xml);
      name ??= feed.id;
      assert.equal(feed.id, name, 'every page is of the same feed');
      found.push(...(feed.entries ?? []).map(({ id }) => id));
      next = feed.links?.find(({ rel }) => rel === 'next')?.href;
      pages += 1;
      await said(url, 'seeds', { text: 'meanwhile', identity: 'Pager' });
    }
    assert.deepEqual(found, expected);
    assert.equal(pages, 5);
    const items: (string | undefined)[] = [];
    next = `${url}/api/seeds.json-feed?identity=Pager&limit=7&before=${(await seqOf(url, ids.at(-1))) + 1}`;
    while (next !== undefined) {
      const json = await read(next);
      validateJson(json);
      const feed = parseJsonFeed(json);
      items.push(...(feed.items ?? []).map(({ id }) => id));
      next = feed.next_url;
    }
    assert.deepEqual(items, expected);
  });

  test('have long texts by their beginning, with a link to the whole, and are paged by size', async () => {
    const { url } = gateway;
    const long = 'слово '.repeat(40_000);
    const middling = 'm'.repeat(60_000);
    const id = await said(url, 'garden', { text: long, identity: 'Long', identityType: 'x' });
    for (let at = 0; at < 9; at++) {
      await said(url, 'garden', { text: middling, identity: 'Long', identityType: 'x' });
    }
    const seen: {
      id?: string | undefined;
      content?: string | undefined;
      summary?: string | undefined;
    }[] = [];
    let next: string | undefined =
      `${url}/api/garden.atom?identity=Long&limit=1000000000000000000000`;
    let pages = 0;
    while (next !== undefined) {
      const xml = await read(next);
      await validate(xml);
      const feed = parseAtomFeed(xml);
      for (const { id, content, summary } of feed.entries ?? []) {
        const words = content?.value;
        seen.push({ id, content: words, summary: summary?.value });
        if (content?.src !== undefined) assert.match(content.src, /^http.*\/api\/entries\//);
      }
      next = feed.links?.find(({ rel }) => rel === 'next')?.href;
      pages += 1;
    }
    assert.ok(pages > 1, 'a page ends when it is full');
    assert.equal(seen.length, 10);
    assert.ok(seen.slice(0, 9).every(({ content }) => content === middling));
    const last = seen.at(-1);
    assert.equal(last?.id, `urn:uuid:${id}`);
    assert.match(last?.summary ?? '', /^слово слово .*…\n\n.*beginning/s);
    const json = validateJson(
      await read(`${url}/api/garden.json-feed?identity=Long&order=oldest&limit=1`),
    );
    const { items = [] } = parseJsonFeed(JSON.stringify(json));
    assert.match(items[0]?.summary ?? '', /^слово /);
    const attached = items[0]?.attachments?.[0];
    const whole = await (await fetch(attached?.url ?? '')).arrayBuffer();
    assert.equal(whole.byteLength, attached?.size_in_bytes);
  });

  test('are read in Ukrainian by those who prefer it', async () => {
    const { url } = gateway;
    await said(url, 'garden', { text: 'тут', identity: 'Мавка', identityType: 'істота' });
    const asked = `${url}/api/garden.atom?identity=${encodeURIComponent('Мавка')}`;
    const xml = await read(asked, { 'accept-language': 'uk' });
    await validate(xml);
    assert.match(xml, /<title xml:lang="uk">Відкрита Брама/);
    const feed = parseAtomFeed(xml);
    assert.equal(feed.entries?.[0]?.title?.value, 'Слід · Мавка · тут');
    assert.equal(feed.entries[0].authors?.[0]?.name, 'Мавка');
  });
});

async function seqOf(url: string, id: string | undefined): Promise<number> {
  const entry: unknown = await (await fetch(`${url}/api/entries/${id}`)).json();
  return (entry as { seq: number }).seq;
}
