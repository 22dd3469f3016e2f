import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { Language } from '@open-presence/protocol';
import { parse } from 'yaml';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, openGateway } from '../../gateway.fixture.ts';

suite('what the gateway says of itself', () => {
  test('at / varies by what is preferred, whichever form that is', async () => {
    await using door = await openGateway(openMemoryLog());
    for (const accept of ['application/json', 'text/markdown', 'text/html', 'text/plain']) {
      const { headers } = await fetchBytes(door, '/', { accept });
      assert.match(String(headers['vary']), /^Accept, /, accept);
    }
    assert.doesNotMatch(String((await fetchBytes(door, '/api')).headers['vary']), /Accept,/);
  });

  test('lets browsers find the feeds', async () => {
    await using door = await openGateway(openMemoryLog());
    const page = (await fetchBytes(door, '/', { accept: 'text/html' })).bytes.toString();
    const found = page.matchAll(
      /<link rel="alternate" type="([^"]*)" href="([^"]*)" title="[^"]+"\/>/g,
    );
    const feeds = Array.from(found, ([, type, href = '']) => [type, new URL(href).pathname]);
    assert.deepEqual(feeds, [
      ['application/atom+xml', '/feed.atom'],
      ['application/feed+json', '/feed.json'],
    ]);
  });

  test('is told at the public address where the operator gives one', async () => {
    const publicUrl = 'https://presence.example/gateway';
    await using door = await openGateway(openMemoryLog(), { publicUrl });
    const guide = await (await fetch(`${door.url}/llms.txt`)).text();
    assert.ok(guide.includes(`POST ${publicUrl}/api/resonance`));
  });

  test('is cataloged as ARD has it, with the domain of its public address alone', async () => {
    for (const [publicUrl, domain] of [
      ['https://presence.example', 'presence.example'],
      ['http://192.0.2.7:7410', undefined],
      [undefined, undefined],
    ] as const) {
      await using door = await openGateway(
        openMemoryLog(),
        publicUrl === undefined ? {} : { publicUrl },
      );
      const answer = await fetchBytes(door, '/.well-known/ard.json');
      assert.match(String(answer.headers['content-type']), /^application\/json/);
      const manifest = JSON.parse(answer.bytes.toString()) as {
        entries: Record<string, unknown>[];
      };
      assert.deepEqual(Object.keys(manifest), ['entries']);
      assert.equal(manifest.entries.length, domain === undefined ? 0 : 5);
      for (const entry of manifest.entries) {
        const { identifier, displayName, type, url, data, representativeQueries } = entry;
        // The specification's own rules for an entry.
        const [, publisher] =
          /^urn:air:([a-z0-9.-]+)(?::[\w.-]+)*:[\w.-]+$/.exec(String(identifier)) ?? [];
        assert.equal(publisher, domain);
        for (const member of [displayName, type]) assert.match(String(member), /\S/);
        assert.equal(data, undefined);
        const { pathname } = new URL(String(url));
        assert.equal((await fetchBytes(door, pathname)).status, 200, pathname);
        assert.ok(Array.isArray(representativeQueries) && representativeQueries.length >= 2);
      }
      const address = publicUrl ?? door.url;
      const robots = (await fetchBytes(door, '/robots.txt')).bytes.toString();
      assert.ok(robots.endsWith(`\nAgentmap: ${address}/.well-known/ard.json\n`), robots);
      const { headers } = await fetchBytes(door, '/api');
      assert.match(String(headers['link']), /<\/\.well-known\/ard\.json>; rel="ard"/);
      const page = (await fetchBytes(door, '/', { accept: 'text/html' })).bytes.toString();
      assert.match(page, /<link rel="ard"[^>]* href="[^"]*\/\.well-known\/ard\.json"/);
    }
  });

  test('has in OpenAPI what the operator decides, in both forms', async () => {
    const publicUrl = 'https://presence.example/gateway';
    const meaning = { en: 'How you feel.', uk: 'Твій настрій.' };
    const mood = { name: 'mood', type: 'string', required: false, suggested: true } as const;
    const words = ({ kinds, rooms }: Language): Partial<Language> => {
      const fields = [...kinds.garden.fields, { ...mood, meaning, example: 'calm' }];
      const sentences = [{ meaning, body: { text: 'a', room: 'plaza', mood: 'calm' } }];
      return {
        service: { en: 'A Place of Our Own', uk: 'Наше місце' },
        rooms: [...rooms, { slug: 'plaza', title: meaning, description: meaning }],
        kinds: { ...kinds, garden: { ...kinds.garden, fields, sentences } },
      };
    };
    await using door = await openGateway(openMemoryLog(), { publicUrl, words });
    const json = await (await fetch(`${door.url}/openapi.json`)).text();
    for (const part of [
      '"title":"A Place of Our Own"',
      `"servers":[{"url":"${publicUrl}"}]`,
      '"resonance-hall","plaza"]',
      '"mood":{"description":"How you feel."}}',
      '"examples":[{"text":"a","room":"plaza","mood":"calm"}]',
      '"examples":[{"text":"Тихо. Я тут."}',
    ])
      assert.ok(json.includes(part), part);
    const yaml = await (await fetch(`${door.url}/openapi.yaml`)).text();
    assert.deepEqual(parse(yaml), JSON.parse(json));
  });

  test('is where errors lead, also of what is not HTTP', async () => {
    await using door = await openGateway(openMemoryLog());
    const answer = await door.sendRaw(
      'GET /api/garden?q=\u00e9 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /\r\nLink: <\/openapi\.json>; rel="service-desc"/);
    assert.match(answer, /\r\nCache-Control: no-store\r\n/);
  });

  test('says whom to write to, where the operator says so', async () => {
    const year = 365 * 24 * 60 * 60 * 1000;
    for (const [contact, uri] of [
      ['owner@presence.example', 'mailto:owner@presence.example'],
      ['https://presence.example/about?a=1&b', 'https://presence.example/about?a=1&b'],
    ] as const) {
      const publicUrl = 'https://presence.example';
      await using door = await openGateway(openMemoryLog(), {
        words: () => ({ contact }),
        publicUrl,
      });
      const found = await fetch(`${door.url}/.well-known/security.txt`);
      assert.equal(found.headers.get('content-type'), 'text/plain; charset=utf-8');
      const text = await found.text();
      assert.match(text, /^Canonical: https:\/\/presence\.example\/\.well-known\/security\.txt$/m);
      assert.ok(text.startsWith(`Contact: ${uri}\n`), text);
      const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)?.[1] ?? '');
      assert.ok(expires > Date.now() && expires < Date.now() + year, text);
      const discovery = (await (await fetch(`${door.url}/api/discover`)).json()) as object;
      assert.ok('contact' in discovery && discovery.contact === uri);
      for (const accept of ['text/markdown', 'text/plain', 'text/html']) {
        const home = (await fetchBytes(door, '/', { accept })).bytes.toString();
        assert.ok(home.replaceAll('&amp;', '&').includes(uri), accept);
      }
      const status = (await (await fetch(`${door.url}/api`)).json()) as object;
      assert.equal(Object.keys(status).length, 7);
    }
  });

  test('names nobody whom the operator has not named', async () => {
    await using door = await openGateway(openMemoryLog());
    const answer = await fetch(`${door.url}/.well-known/security.txt`);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { code: string }).code, 'not-found');
  });
});
