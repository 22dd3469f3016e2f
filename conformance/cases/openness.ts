import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import {
  contactBody,
  uniqueName,
  ELSEWHERE,
  query,
  traceBody,
  type Gateway,
  type Headers,
} from '../gateway.ts';
import { exchange, head, statuses } from '../raw.ts';
import { members } from '../spelling.ts';
import { asArray } from '../value.ts';

const MIB = 2 ** 20;
/** Fits into a head of 1 MiB, beside the other lines. */
const LONG = 1_000_000;

/** A path of every resource, small whatever the gateway holds. */
export async function paths(gateway: Gateway): Promise<string[]> {
  const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
  const filter = `?identity=${uniqueName()}`;
  return [
    '/',
    '/api',
    '/healthz',
    '/readyz',
    '/mova-snu.yaml',
    '/mova-snu.schema.json',
    '/openapi.json',
    '/llms.txt',
    '/skill.md',
    '/speak',
    '/robots.txt',
    '/.well-known/api-catalog',
    '/api/rooms',
    '/api/discover',
    '/api/presence',
    entry.path,
    `${entry.path}/replies${filter}`,
    ...KINDS.map((kind) => `/api/${kind}${filter}`),
    ...(await gateway.rooms()).map((slug) => `/api/rooms/${slug}${filter}`),
  ];
}

async function everythingWorks(gateway: Gateway, headers: Headers): Promise<void> {
  for (const path of await paths(gateway)) (await gateway.get(path, headers)).expect(200);
  await gateway.contribute('resonance', contactBody(uniqueName(), ['presence']), headers);
  for (const kind of ['garden', 'seeds', 'shepit'] as const) {
    await gateway.contribute(kind, traceBody(uniqueName()), headers);
  }
}

type Form = 'exact' | 'respelled' | 'omitted';

/** Says `more`, reads it back as it was spelled, and finds the entry in a listing in the given form. */
async function keeps(
  gateway: Gateway,
  identity: string,
  more: string,
  form: Form = 'exact',
): Promise<void> {
  const said = `"identity":${JSON.stringify(identity)},${more}`;
  const { entry } = await gateway.contribute('seeds', `{${said}}`);
  const exact = await gateway.read(entry.path);
  assert.ok(exact.body === said, 'read as it was spelled');
  const listed = {
    exact: said,
    respelled: said.replaceAll(String.raw`\ud83d`, String.raw`\ufffd`),
    omitted: `"omitted":{"path":"${entry.path}","size":${Buffer.byteLength(exact.text)}}`,
  }[form];
  const [found, ...others] = await gateway.by(identity, '/api/seeds');
  assert.ok(found?.body === listed, `listed in the form "${form}"`);
  assert.equal(found.path, entry.path);
  assert.equal(others.length, 0);
}

export const openness: readonly Case[] = [
  check('1.1', 'no-credentials', (gateway) => everythingWorks(gateway, {})),
  check('1.1', 'credentials-ignored', async (gateway) => {
    await everythingWorks(gateway, { authorization: 'Bearer nonsense', cookie: 'session=none' });
    await everythingWorks(gateway, { authorization: 'Basic ???', 'x-api-key': '' });
  }),
  check('1.1', 'never-turned-away', async (gateway) => {
    await everythingWorks(gateway, {
      origin: await gateway.pageOrigin(),
      referer: `${ELSEWHERE}/page`,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
    });
    await gateway.contribute('garden', traceBody(uniqueName()), { expect: '100-continue' });
    const many = Array.from({ length: 1500 }, (_, at) => [`x-${at}`, 'value'] as const);
    (await gateway.get('/api', Object.fromEntries(many))).expect(200);
  }),
  check('1.1', 'one-connection', async (gateway) => {
    const identity = uniqueName();
    const body = traceBody(identity);
    const host = `Host: ${gateway.base.host}`;
    const received = await exchange(gateway.base, [
      head('GET /healthz HTTP/1.1', host),
      head('POST /api/garden HTTP/1.1', host, `Content-Length: ${Buffer.byteLength(body)}`) + body,
      head('GET /api/nowhere HTTP/1.1', host),
      head('GET /api/rooms HTTP/1.1', host, 'Connection: close'),
    ]);
    assert.deepEqual(statuses(received), [200, 201, 404, 200]);
    assert.equal((await gateway.by(identity)).length, 1);
  }),

  check('1.2', 'long-url', async (gateway) => {
    const identity = uniqueName('x'.repeat(LONG));
    assert.deepEqual(await gateway.by(identity), []);
    for (const text of ['one', 'two'])
      await gateway.contribute('garden', traceBody(identity, { text }));
    const found = await gateway.follow(
      query('/api/garden', [
        ['identity', identity],
        ['limit', 1],
      ]),
    );
    assert.deepEqual(
      found.map((entry) => entry.fields['text']),
      ['two', 'one'],
    );
  }),
  check('1.2', 'long-header', async (gateway) => {
    const half = 'x'.repeat(LONG / 2);
    const headers = { 'x-long': half, 'accept-language': `en,${half};q=0.1` };
    (await gateway.get('/api', headers)).expect(200);
    await gateway.contribute('garden', traceBody(uniqueName()), headers);
  }),
  check('1.2', 'long-path', async (gateway) => {
    const long = 'x'.repeat(LONG);
    (await gateway.get(`/${long}`)).problem(404, 'not-found');
    (await gateway.get(`/api/entries/${long}`)).problem(404, 'not-found');
    (await gateway.get(`/api/rooms/${long}`)).problem(404, 'unknown-room');
  }),
  ...[65_536, 70_001, MIB + 1, 5 * MIB].map((size) =>
    check(
      '1.2',
      'long-text',
      async (gateway) => {
        const text = 'Слова та 言葉 and 😀. '.repeat(size).slice(0, size);
        // The cut may go through a surrogate pair.
        const form = text.isWellFormed() ? 'exact' : 'respelled';
        await keeps(gateway, uniqueName(), `"text":${JSON.stringify(text)}`, form);
      },
      `${size} characters`,
    ),
  ),
  check('1.2', 'long-parts', async (gateway) => {
    await keeps(gateway, uniqueName(), `"${'n'.repeat(MIB)}":1,"${'n'.repeat(MIB)}":2`);
    await keeps(
      gateway,
      uniqueName(),
      `"n":-1${'0'.repeat(MIB)}.${'1'.repeat(MIB)}e-${'9'.repeat(MIB)}`,
      'omitted',
    );
    const halves = String.raw`\ud83d\u0041\/`.repeat(MIB / 14);
    await keeps(gateway, uniqueName(), `"s":"${halves}"`, 'respelled');
  }),
  check('1.2', 'deep-nesting', async (gateway) => {
    const depth = 100_000;
    const arrays = `"deep":${'['.repeat(depth)}${']'.repeat(depth)}`;
    await keeps(gateway, uniqueName(), arrays, 'omitted');
    const objects = `"deep":${'{"a":'.repeat(depth)}null${'}'.repeat(depth)}`;
    await keeps(gateway, uniqueName(), objects, 'omitted');
  }),
  check('1.2', 'many-members', async (gateway) => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => at);
    await keeps(gateway, uniqueName(), numbers.map((at) => `"m${at}":${at}`).join(','));
    const identity = uniqueName();
    const what = uniqueName('what');
    await gateway.contribute(
      'resonance',
      contactBody(
        identity,
        numbers.map((at) => `${what} ${at}`),
      ),
    );
    for (const at of [0, 1, 24_999]) {
      const found = await gateway.list(query('/api/resonance', [['seeking', `${what} ${at}`]]));
      assert.equal(found.entries.length, 1);
      assert.equal(asArray(found.entries[0]?.fields['seeking'])[at], `${what} ${at}`);
    }
    const names = members((await gateway.by(identity, '/api/resonance'))[0]?.text ?? '{}');
    assert.equal(names.length, 7);
  }),
  check('1.2', 'many-requests', async (gateway) => {
    const caller = async (): Promise<void> => {
      for (let count = 0; count < 100; count += 1) (await gateway.get('/api')).expect(200);
    };
    await Promise.all(Array.from({ length: 5 }, caller));
    const host = `Host: ${gateway.base.host}`;
    const request = head('GET /api HTTP/1.1', host, 'Connection: close');
    // Most come on few connections, since a client that waits for each answer costs more than the answer.
    const pipelined = [head('GET /api HTTP/1.1', host).repeat(99), request];
    for (const received of await Promise.all(
      Array.from({ length: 25 }, () => exchange(gateway.base, pipelined)),
    )) {
      assert.deepEqual(statuses(received), Array<number>(100).fill(200));
    }
    const callers = Array.from({ length: 300 }, () => exchange(gateway.base, [request]));
    for (const received of await Promise.all(callers)) assert.deepEqual(statuses(received), [200]);
  }),
];
