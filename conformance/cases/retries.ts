import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { entryOf, type Kind } from '../entry.ts';
import { contactBody, uniqueName, traceBody, type Gateway, type Headers } from '../gateway.ts';
import { body } from './rooms.ts';

const key = (value: string): Headers => ({ 'idempotency-key': value });
/** What is answered to a repeated key. */
const repeated = (text: string): string => text.replace(/\}$/, ',"repeated":true}');

async function inQuery(gateway: Gateway, value: string, sent: string): Promise<string> {
  const path = `/api/garden?idempotency-key=${encodeURIComponent(value)}`;
  return entryOf((await gateway.request('POST', path, {}, sent)).expect(201).text).id;
}

async function inHeader(gateway: Gateway, value: string, sent: string): Promise<string> {
  return (await gateway.contribute('garden', sent, key(value))).entry.id;
}

async function conflicts(
  gateway: Gateway,
  kind: Kind,
  sent: string,
  headers: Headers,
): Promise<unknown> {
  return (await gateway.post(kind, sent, headers)).problem(422, 'idempotency-conflict')['entry'];
}

export const retries: readonly Case[] = [
  check('7.4', 'retry', async (gateway) => {
    for (const kind of ['garden', 'seeds', 'shepit'] as const) {
      const identity = uniqueName();
      const headers = key(uniqueName('key'));
      const first = await gateway.contribute(kind, traceBody(identity), headers);
      for (let count = 0; count < 3; count += 1) {
        await gateway.contribute(kind, traceBody(uniqueName()));
        const again = await gateway.contribute(kind, traceBody(identity), headers);
        assert.equal(again.entry.text, repeated(first.entry.text));
        assert.equal(again.answer.header('idempotent-replayed'), 'true');
      }
      assert.equal((await gateway.by(identity, `/api/${kind}`)).length, 1);
    }
    const identity = uniqueName();
    const headers = key(uniqueName('key'));
    const first = await gateway.contribute(
      'resonance',
      contactBody(identity, ['presence']),
      headers,
    );
    const again = await gateway.contribute(
      'resonance',
      contactBody(identity, ['presence']),
      headers,
    );
    assert.equal(again.entry.id, first.entry.id);
    assert.equal((await gateway.by(identity, '/api/resonance')).length, 1);
  }),
  check(
    '7.4',
    'retry',
    async (gateway) => {
      for (const text of ['\ud83d\ude00'.repeat(20_000), 'x'.repeat(2_000_000)]) {
        const identity = uniqueName();
        const headers = key(uniqueName('key'));
        const first = await gateway.contribute('garden', traceBody(identity, { text }), headers);
        const again = await gateway.contribute('garden', traceBody(identity, { text }), headers);
        assert.equal(again.entry.text, repeated(first.entry.text));
        assert.equal((await gateway.by(identity)).length, 1);
        const other = traceBody(identity, { text: `${text.slice(0, -2)}!!` });
        assert.equal(await conflicts(gateway, 'garden', other, headers), first.entry.path);
      }
    },
    'of long texts',
  ),
  check(
    '7.4',
    'retry',
    async (gateway) => {
      const headers = key(uniqueName('key'));
      const room = await gateway.roomOf('garden');
      const sent = traceBody(uniqueName());
      const first = await gateway.contribute('garden', sent, headers);
      const named = `{"room":"${room}",${sent.slice(1)}`;
      assert.equal((await gateway.contribute('garden', named, headers)).entry.id, first.entry.id);
    },
    'with the usual room named',
  ),
  check('7.4', 'same-values', async (gateway) => {
    const identity = uniqueName();
    const headers = key(uniqueName('key'));
    const sent = traceBody(identity, { n: 1.5, deep: { a: [1, null], b: 'x' } });
    const { entry } = await gateway.contribute('garden', sent, headers);
    const others = [
      sent.replace('A trace', String.raw`\u0041 trace`),
      JSON.stringify(JSON.parse(sent), null, 2),
      traceBody(identity, { deep: { b: 'x', a: [1, null] }, n: 1.5 }),
    ];
    for (const other of others) {
      const again = await gateway.contribute('garden', other, headers);
      assert.equal(again.entry.text, repeated(entry.text));
    }
    const other = traceBody(identity, { n: 1.5, deep: { a: [null, 1], b: 'x' } });
    const problem = (await gateway.post('garden', other, headers)).problem(
      422,
      'idempotency-conflict',
    );
    assert.match(String(problem['detail']), /"deep"/);
    assert.equal((await gateway.by(identity)).length, 1);
  }),
  check('7.4', 'conflict', async (gateway) => {
    const [one = '', two = one] = await gateway.rooms();
    const identity = uniqueName();
    const headers = key(uniqueName('key'));
    const sent = traceBody(identity, { n: 1, room: one });
    const { entry } = await gateway.contribute('garden', sent, headers);
    const others = [
      traceBody(identity, { n: 2, room: one }),
      traceBody(identity, { room: one, n: 1 }).replace('"n":1', '"n":1.0'),
      traceBody(identity, { n: 1, m: 1, room: one }),
      traceBody(identity, { room: one }),
      ...(two === one ? [] : [traceBody(identity, { n: 1, room: two })]),
    ];
    for (const other of others) {
      assert.equal(await conflicts(gateway, 'garden', other, headers), entry.path);
    }
    for (const kind of ['seeds', 'shepit'] as const) {
      assert.equal(await conflicts(gateway, kind, sent, headers), entry.path);
      assert.equal((await gateway.by(identity, `/api/${kind}`)).length, 0);
    }
    assert.equal((await gateway.by(identity)).length, 1);
  }),
  check('7.4', 'concurrent', async (gateway) => {
    for (const kind of ['garden', 'resonance'] as const) {
      const identity = uniqueName();
      const headers = key(uniqueName('key'));
      const many = Array.from({ length: 20 }, () =>
        gateway.contribute(kind, body(kind, identity), headers),
      );
      const ids = new Set((await Promise.all(many)).map(({ entry }) => entry.id));
      assert.equal(ids.size, 1);
      assert.equal((await gateway.by(identity, `/api/${kind}`)).length, 1);
    }
  }),
  check(
    '7.4',
    'concurrent',
    async (gateway) => {
      const identity = uniqueName();
      const headers = key(uniqueName('key'));
      const bodies = Array.from({ length: 20 }, (_, n) => traceBody(identity, { n: n % 4 }));
      const answers = await Promise.all(
        bodies.map((sent) => gateway.post('garden', sent, headers)),
      );
      const [kept, ...more] = await gateway.by(identity);
      assert.equal(more.length, 0);
      answers.forEach((answer, n) => {
        if (n % 4 === kept?.fields['n']) assert.equal(entryOf(answer.expect(201).text).id, kept.id);
        else assert.equal(answer.problem(422, 'idempotency-conflict')['entry'], kept?.path);
      });
    },
    'with different contents',
  ),
  check('7.4', 'key-spelling', async (gateway) => {
    const sent = traceBody(uniqueName());
    for (const value of [
      uniqueName('key'),
      `${uniqueName('a key')}, and more; x=1`,
      `${uniqueName()}=&/?#`,
    ]) {
      const id = await inHeader(gateway, value, sent);
      assert.equal(await inHeader(gateway, `"${value}"`, sent), id);
      assert.equal(await inQuery(gateway, value, sent), id);
      assert.notEqual(await inHeader(gateway, `${value}.`, sent), id);
      assert.notEqual(await inHeader(gateway, value.toUpperCase(), sent), id);
    }
    const [value, other] = [uniqueName('key'), uniqueName('key')];
    const id = await inHeader(gateway, value, sent);
    const path = `/api/garden?idempotency-key=${other}`;
    const both = await gateway.request('POST', path, key(value), sent);
    assert.equal(entryOf(both.expect(201).text).id, id);
    assert.notEqual(await inQuery(gateway, other, sent), id);
    const word = uniqueName('ключ 🗝');
    assert.equal(await inQuery(gateway, word, sent), await inQuery(gateway, word, sent));
  }),
  check('7.4', 'key-bytes', async (gateway) => {
    const sent = traceBody(uniqueName());
    for (const word of ['ключ', 'clé']) {
      const value = uniqueName(word);
      // Node.js sends each character as one byte, unless the body is a string.
      const bytes = key(Buffer.from(value).toString('latin1'));
      const said = await gateway.request('POST', '/api/garden', bytes, Buffer.from(sent));
      const { id } = entryOf(said.expect(201).text);
      assert.equal(await inQuery(gateway, value, sent), id, word);
    }
  }),
  check('7.4', 'long-key', async (gateway) => {
    const sent = traceBody(uniqueName());
    const value = uniqueName('k'.repeat(1_000_000));
    const id = await inHeader(gateway, value, sent);
    assert.equal(await inQuery(gateway, value, sent), id);
    assert.notEqual(await inHeader(gateway, `${value}k`, sent), id);
  }),
  check('7.4', 'unused-key', async (gateway) => {
    const identity = uniqueName();
    const headers = key(uniqueName('key'));
    (await gateway.post('garden', '{', headers)).problem(400, 'malformed-json');
    (await gateway.post('garden', '{}', headers)).problem(422, 'invalid-entry');
    const { entry } = await gateway.contribute('garden', traceBody(identity), headers);
    (await gateway.post('garden', '{}', headers)).problem(422, 'invalid-entry');
    assert.equal(
      (await gateway.contribute('garden', traceBody(identity), headers)).entry.id,
      entry.id,
    );
  }),
];
