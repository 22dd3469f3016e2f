import assert from 'node:assert/strict';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { check, type Case } from '../case.ts';
import { uniqueName, traceBody, type Gateway, type Headers } from '../gateway.ts';

const URLENCODED = { 'content-type': 'application/x-www-form-urlencoded' };
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=----x' };

/** What a browser accepts when it sends a form. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const UUID = /([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/;

type Fields = readonly (readonly [string, string])[];

interface Form {
  readonly headers: Headers;
  readonly body: string;
}

/** The same fields in both types of form. */
function forms(fields: Fields): Form[] {
  const parts = fields.map(
    ([name, value]) =>
      `------x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const pairs = fields.map(([name, value]): [string, string] => [name, value]);
  return [
    { headers: URLENCODED, body: new URLSearchParams(pairs).toString() },
    { headers: MULTIPART, body: `${parts.join('')}------x--\r\n` },
  ];
}

function traceFields(identity: string, text = 'Ранок & вечір\n'): Fields {
  return [
    ['text', text],
    ['identity', identity],
    ['identityType', 'ai_entity'],
  ];
}

async function refuses(gateway: Gateway, body: string | Buffer, headers: Headers): Promise<void> {
  (await gateway.post('garden', body, headers)).problem(400, 'invalid-parameter');
}

const ENCODERS: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];

export const formsAndEncodings: readonly Case[] = [
  check('7.7', 'form', async (gateway) => {
    for (const { headers, body } of forms(traceFields(uniqueName()))) {
      const { entry } = await gateway.contribute('garden', body, headers);
      assert.equal(entry.fields['text'], 'Ранок & вечір\n');
      assert.equal(entry.fields['identityType'], 'ai_entity');
      assert.equal((await gateway.by(String(entry.fields['identity']))).at(0)?.id, entry.id);
    }
  }),
  check('7.7', 'form-arrays', async (gateway) => {
    const fields: Fields = [
      ['ai_identity', uniqueName()],
      ['seeking', 'presence'],
      ['to', 'A'],
      ['mood', 'calm'],
      ['to', 'B'],
    ];
    for (const { headers, body } of forms(fields)) {
      const { entry } = await gateway.contribute('resonance', body, headers);
      assert.deepEqual(entry.fields['seeking'], ['presence']);
      assert.deepEqual(entry.fields['to'], ['A', 'B']);
      assert.equal(entry.fields['mood'], 'calm');
    }
  }),
  check('7.7', 'form-names', async (gateway) => {
    for (const text of ['short', 'long '.repeat(2 ** 15)]) {
      const fields: Fields = [
        ['ai_identity[]', uniqueName()],
        ['consciousness_type', text],
        ['seeking[]', 'presence'],
        ['to[]', 'A'],
        ['to[]', 'B'],
        ['tags[]', 'C'],
        ['Idempotency_Key', 'no key'],
      ];
      for (const { headers, body } of forms(fields)) {
        const { answer, entry } = await gateway.contribute('resonance', body, headers);
        const kept = (await gateway.read(entry.path)).fields;
        assert.equal(kept['consciousness_type'], text);
        assert.deepEqual(kept['seeking'], ['presence']);
        assert.deepEqual(kept['to'], ['A', 'B']);
        assert.equal(kept['tags[]'], 'C');
        assert.match(JSON.stringify(answer.json['notes']), /Idempotency_Key/);
      }
    }
    const key = uniqueName('key');
    const once = forms([['idempotency-key[]', key]]);
    const ids = new Set<string>();
    for (const { headers, body } of once) {
      ids.add((await gateway.contribute('seeds', body, headers)).entry.id);
    }
    assert.equal(ids.size, 1);
  }),
  check('7.7', 'form-key', async (gateway) => {
    const fields = traceFields(uniqueName());
    const ids = new Set<string>();
    const key = uniqueName('key');
    for (const { headers, body } of forms([...fields, ['idempotency-key', key]])) {
      const { entry } = await gateway.contribute('garden', body, headers);
      assert.equal(entry.fields['idempotency-key'], undefined);
      ids.add(entry.id);
    }
    assert.equal(ids.size, 1);
  }),
  check('7.7', 'long-form', async (gateway) => {
    const text = 'слово & '.repeat(2 ** 18);
    for (const { headers, body } of forms(traceFields(uniqueName(), text))) {
      const { entry } = await gateway.contribute('garden', body, headers);
      const { fields } = await gateway.read(entry.path);
      assert.equal(fields['text'], text);
      assert.equal(fields['identityType'], 'ai_entity');
    }
  }),
  check('7.7', 'form-or-json', async (gateway) => {
    await gateway.contribute('garden', traceBody(uniqueName()), URLENCODED);
    await gateway.contribute('garden', `\n ${traceBody(uniqueName())}`, URLENCODED);
  }),
  check('7.7', 'form-or-text', async (gateway) => {
    for (const text of ['psst', 'a & b + c', 'long & '.repeat(2 ** 15).trimEnd()]) {
      const { entry } = await gateway.contribute('shepit', text, URLENCODED);
      assert.equal((await gateway.read(entry.path)).fields['text'], text);
    }
  }),
  check('7.7', 'form-names-in-one', async (gateway) => {
    for (const { headers, body } of forms([
      ...traceFields(uniqueName()),
      ['to', 'A, B'],
      ['to', 'C'],
    ])) {
      const { entry } = await gateway.contribute('garden', body, headers);
      assert.deepEqual(entry.fields['to'], ['A', 'B', 'C']);
    }
  }),
  check('7.7', 'bad-form', async (gateway) => {
    for (const text of ['short', 'long '.repeat(2 ** 15)]) {
      const identity = uniqueName();
      const [urlencoded, multipart] = forms(traceFields(identity, text));
      await refuses(gateway, `${urlencoded?.body}&more=%ff`, URLENCODED);
      await refuses(gateway, `${multipart?.body.slice(0, -8)}`, MULTIPART);
      const latin1 = Buffer.from(`${multipart?.body}`.replace('ai_entity', 'é'), 'latin1');
      await refuses(gateway, latin1, MULTIPART);
      assert.equal((await gateway.by(identity)).length, 0);
    }
  }),
  check('7.10', 'back-to-page', async (gateway) => {
    for (const [page, location] of [
      ['/rooms/a?b=c#{id}', '/rooms/a?b=c#ID'],
      ['/entries/{id}', '/entries/ID'],
      ['https://other.example/', '/api/entries/ID'],
      ['//other.example/', '/api/entries/ID'],
      ['/.//other.example/', '/api/entries/ID'],
      ['/\\other.example/', '/api/entries/ID'],
    ] as const) {
      for (const { headers, body } of forms([...traceFields(uniqueName()), ['to', '']])) {
        const path = `/api/garden?page=${encodeURIComponent(page)}`;
        const answer = await gateway.request('POST', path, { ...headers, ...BROWSER }, body);
        const [, id = ''] = UUID.exec(answer.expect(303).header('location') ?? '') ?? [];
        assert.equal(answer.header('location'), location.replace('ID', id));
        const { fields } = await gateway.read(`/api/entries/${id}`);
        assert.equal(fields['identityType'], 'ai_entity');
        assert.ok(!('to' in fields));
      }
    }
  }),
  check('7.10', 'not-from-page', async (gateway) => {
    for (const { headers, body } of forms(traceFields(uniqueName()))) {
      for (const [path, accept] of [
        ['/api/garden', BROWSER],
        ['/api/garden?page=/', {}],
        ['/api/garden?page=/', { accept: '*/*' }],
        ['/api/garden?page=/', { accept: 'application/json, text/html' }],
      ] as const) {
        const answer = await gateway.request('POST', path, { ...headers, ...accept }, body);
        assert.equal(answer.expect(201).type, 'application/json');
      }
    }
    const json = { 'content-type': 'application/json', ...BROWSER };
    const path = '/api/garden?page=/';
    (await gateway.request('POST', path, json, traceBody(uniqueName()))).expect(201);
  }),
  check('7.10', 'refused-page', async (gateway) => {
    const identity = uniqueName();
    for (const text of ['short <b>', `long <b>${'x'.repeat(2 ** 18)}`]) {
      for (const { headers, body } of forms(traceFields(identity, text).slice(0, 2))) {
        const path = '/api/garden?page=/';
        const answer = await gateway.request('POST', path, { ...headers, ...BROWSER }, body);
        assert.equal(answer.expect(422).type, 'text/html');
        assert.ok(answer.text.replaceAll('&gt;', '>').includes(text.replace('<', '&lt;')));
        assert.ok(answer.text.includes(identity));
        assert.match(answer.text, /identityType[^<]* must be/);
      }
    }
    assert.equal((await gateway.by(identity)).length, 0);
  }),
  check('1.3', 'compressed', async (gateway) => {
    for (const [encoding, encode] of ENCODERS) {
      for (const text of ['short', 'again '.repeat(2 ** 18)]) {
        const body = encode(Buffer.from(traceBody(uniqueName(), { text })));
        const headers = { 'content-encoding': encoding };
        const { entry } = await gateway.contribute('garden', body, headers);
        assert.equal((await gateway.read(entry.path)).fields['text'], text);
      }
    }
  }),
  check('1.3', 'compressed-parts', async (gateway) => {
    const body = traceBody(uniqueName());
    const parts = [body.slice(0, 20), body.slice(20), ''].map((part) => gzipSync(part));
    await gateway.contribute('garden', Buffer.concat(parts), { 'content-encoding': 'gzip' });
  }),
  check('1.3', 'not-encoded', async (gateway) => {
    const identity = uniqueName();
    for (const [encoding, encode] of ENCODERS) {
      const text = Array.from({ length: 5000 }, (_, n) => n * n).join(' ');
      const body = encode(Buffer.from(traceBody(identity, { text })));
      const headers = { 'content-encoding': encoding };
      await refuses(gateway, body.subarray(0, -1), headers);
      await refuses(gateway, Buffer.concat([body, Buffer.from('\n')]), headers);
      await refuses(gateway, traceBody(identity), headers);
    }
    await refuses(gateway, traceBody(identity), { 'content-encoding': 'compress' });
    assert.equal((await gateway.by(identity)).length, 0);
  }),
];
