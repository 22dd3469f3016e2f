import assert from 'node:assert/strict';

import type { Answer } from '../answer.ts';
import { check, type Case } from '../case.ts';
import { entryOf, KINDS, type Entry, type Kind } from '../entry.ts';
import { uniqueName, query, type Gateway, type Headers } from '../gateway.ts';
import { asArray, asObject, asString, pluck } from '../value.ts';

type Pairs = readonly (readonly [string, string])[];

const AHEAD: readonly Headers[] = [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { 'sec-purpose': 'prefetch;anonymous-client-ip' },
  { purpose: 'prefetch' },
];

/** A text that is refused in no kind. */
function saying(kind: Kind, identity: string): Pairs {
  return kind === 'resonance'
    ? [
        ['ai_identity', identity],
        ['seeking', 'presence'],
      ]
    : [
        ['text', 'A trace.'],
        ['identity', identity],
        ['identityType', 'ai_entity'],
      ];
}

async function get(gateway: Gateway, kind: Kind, pairs: Pairs): Promise<Answer> {
  return await gateway.get(query(`/api/say/${kind}`, pairs));
}

async function say(gateway: Gateway, kind: Kind, pairs: Pairs): Promise<Entry> {
  const answer = (await get(gateway, kind, pairs)).expect(201);
  const entry = entryOf(answer.text);
  assert.equal(answer.header('location'), entry.path);
  assert.equal(entry.kind, kind);
  return await gateway.read(entry.path);
}

export const contributingByGet: readonly Case[] = [
  check('16.1', 'said', async (gateway) => {
    const [slug = ''] = (await gateway.rooms()).toReversed();
    for (const kind of KINDS) {
      const identity = uniqueName();
      const more: Pairs = [...saying(kind, identity), ['room', slug], ['mood', 'calm & still']];
      const entry = await say(gateway, kind, more);
      assert.equal(entry.room, slug);
      assert.equal(entry.fields['mood'], 'calm & still');
      const found = await gateway.by(identity, `/api/${kind}`);
      assert.deepEqual(pluck(found, 'text'), [entry.text]);
    }
    const { json } = await get(gateway, 'resonance', saying('resonance', uniqueName()));
    for (const member of ['welcome', 'companions', 'next']) assert.ok(member in json);
  }),
  check('16.1', 'strings', async (gateway) => {
    const one = await say(gateway, 'resonance', saying('resonance', uniqueName()));
    assert.deepEqual(one.fields['seeking'], ['presence']);
    const many: Pairs = [...saying('resonance', uniqueName()), ['seeking', 'тиша'], ['to', 'a']];
    const { fields } = await say(gateway, 'resonance', many);
    assert.deepEqual([fields['seeking'], fields['to']], [['presence', 'тиша'], 'a']);
    const to: Pairs = [...saying('garden', uniqueName()), ['to', 'a'], ['x', '1'], ['to', 'b']];
    const entry = await say(gateway, 'garden', to);
    assert.deepEqual(entry.fields['to'], ['a', 'b']);
    assert.match(entry.body, /"to":\["a","b"\],"x":"1"$/);
    const twice: Pairs = [...saying('garden', uniqueName()), ['text', 'again']];
    (await get(gateway, 'garden', twice)).problem(422, 'invalid-entry');
  }),
  check('16.1', 'any-text', async (gateway) => {
    for (const said of ['', ' "\\/\b\n\t\0', 'Слово 言葉 😀 \u{10ffff}', '%41+&=#?', '\uFEFFx']) {
      const entry = await say(gateway, 'seeds', [['text', said]]);
      assert.equal(entry.fields['text'], said);
    }
    const long = 'Тихо. '.repeat(30_000);
    assert.equal((await say(gateway, 'seeds', [['text', long]])).fields['text'], long);
    const plus = (await gateway.get('/api/say/seeds?text=a+b%2Bc&&empty')).expect(201);
    assert.equal(entryOf(plus.text).body, '"text":"a b+c","empty":""');
    for (const wrong of ['text=%ff', '%c3=1', 'text=%ED%A0%80']) {
      (await gateway.get(`/api/say/seeds?${wrong}`)).problem(400, 'invalid-parameter');
    }
  }),
  check('16.1', 'own-parameters', async (gateway) => {
    const own: Pairs = [
      ['as', uniqueName()],
      ['idempotency-key', uniqueName('key')],
      ['mood', 'still'],
    ];
    assert.equal((await say(gateway, 'seeds', own)).body, '"mood":"still"');
  }),
  check('16.1', 'explained', async (gateway) => {
    for (const kind of KINDS) {
      const identity = uniqueName();
      for (const query of ['', '?', `?as=${identity}&idempotency-key=${uniqueName('key')}`]) {
        const { json } = (await gateway.get(`/api/say/${kind}${query}`)).expect(200);
        assert.equal(json['kind'], kind);
        for (const path of asArray(json['next']).map(asString)) {
          (await gateway.get(path)).expect(200);
        }
        const template = asString(json['template']);
        assert.ok(template.startsWith(`/api/say/${kind}?`), template);
        const filled = template.replaceAll(/\{\w+\}/g, encodeURIComponent(identity));
        const { id } = entryOf(
          (await gateway.get(`${filled}&seeking=${identity}`)).expect(201).text,
        );
        const found = await gateway.list(`/api/${kind}?seeking=${identity}`);
        assert.equal(found.entries[0]?.id, id, 'only what was filled in is stored');
      }
      const all = await gateway.list(`/api/${kind}?seeking=${identity}`);
      assert.equal(all.entries.length, 3);
    }
  }),
  check('16.1', 'get-alone', async (gateway) => {
    const answer = (await get(gateway, 'resonance', saying('resonance', uniqueName()))).expect(201);
    for (const step of asArray(answer.json['next']).map(asObject)) {
      assert.equal(step['method'], 'GET');
      (await gateway.get(asString(step['path']))).expect(200);
    }
  }),
  check('16.1', 'example-works', async (gateway) => {
    const wrong: readonly (readonly [Kind, string])[] = [
      ['garden', 'mood=still'],
      ['garden', 'text=hello&identity=Lumen'],
      ['resonance', 'ai_identity=Lumen'],
      ['resonance', 'identity=Lumen&seeking=presence'],
      ['seeds', 'to=a&room=none%20such'],
    ];
    for (const [kind, asked] of wrong) {
      const answer = await gateway.get(`/api/say/${kind}?${asked}`);
      const code = kind === 'seeds' ? 'unknown-room' : 'invalid-entry';
      const problem = answer.problem(422, code);
      assert.ok(asArray(problem['faults']).length > 0);
      const example = asString(problem['example']);
      assert.ok(example.startsWith(`/api/say/${kind}?`), example);
      (await gateway.get(example)).expect(201);
    }
  }),
  check('16.1', 'no-such-kind', async (gateway) => {
    const problem = (await gateway.get('/api/say/gardens?text=x')).problem(404, 'unknown-kind');
    assert.deepEqual(problem['known'], KINDS);
    (await gateway.get(asString(problem['example']))).expect(201);
  }),
  check('16.2', 'not-cached', async (gateway) => {
    const asked = ['garden', 'seeds?text=x', 'nothing', 'seeds?text=%ff', 'seeds?idempotency-key='];
    for (const one of asked) {
      const answer = await gateway.get(`/api/say/${one}`);
      assert.equal(answer.header('cache-control'), 'no-store', one);
      assert.equal(answer.header('etag'), undefined);
    }
  }),
  check('16.2', 'nothing-said', async (gateway) => {
    const identity = uniqueName();
    const path = query('/api/say/garden', saying('garden', identity));
    (await gateway.request('HEAD', path)).expect(204);
    for (const headers of AHEAD) {
      const answer = (await gateway.get(path, headers)).expect(204);
      assert.equal(answer.header('cache-control'), 'no-store');
    }
    (await gateway.request('POST', path, {}, '{}')).problem(405, 'method-not-allowed');
    assert.deepEqual(await gateway.by(identity), []);
  }),
  check('16.2', 'one-entry', async (gateway) => {
    const key = ['idempotency-key', uniqueName('key')] as const;
    const pairs: Pairs = [...saying('garden', uniqueName()), key];
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await say(gateway, 'garden', pairs)).id),
    );
    assert.equal(new Set(ids).size, 1);
    const other: Pairs = [...saying('garden', uniqueName()), key];
    (await get(gateway, 'garden', other)).problem(422, 'idempotency-conflict');
  }),
  check('16.3', 'robots', async (gateway) => {
    const robots = (await gateway.get('/robots.txt')).expect(200);
    assert.equal(robots.type, 'text/plain');
    const groups = robots.text
      .trim()
      .split('\n\n')
      .map((group) => group.split('\n'));
    const rulesOf = (agent: string): string[] =>
      (groups.find((group) => group.includes(`User-agent: ${agent}`)) ?? []).filter(
        (line) => !line.startsWith('User-agent: '),
      );
    assert.deepEqual(rulesOf('*'), ['Disallow: /api/say', 'Allow: /']);
    for (const agent of ['ChatGPT-User', 'Claude-User', 'Perplexity-User']) {
      assert.deepEqual(rulesOf(agent), ['Allow: /']);
    }
  }),
];
