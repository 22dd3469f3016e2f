import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asObject } from '../value.ts';
import { idsOf, type Pairs } from './filters.ts';

/** Asks for an answer that is held. Resolves when others were answered meanwhile, and this was not. */
async function held(
  gateway: Gateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ answer: ReturnType<Gateway['get']> }> {
  let answered = false;
  const answer = gateway.get(path, headers).finally(() => {
    answered = true;
  });
  answer.catch(() => {});
  for (let count = 0; count < 20; count += 1) (await gateway.get('/healthz')).expect(200);
  assert.ok(!answered, 'an answer is held while there is nothing new');
  return { answer };
}

export const waiting: readonly Case[] = [
  check('12.4', 'held', async (gateway) => {
    const identity = uniqueName();
    const slug = await gateway.roomOf('garden');
    const { entry: parent } = await gateway.contribute('garden', traceBody(identity));
    for (const place of ['/api/garden', `/api/rooms/${slug}`, `${parent.path}/replies`]) {
      const who = uniqueName();
      const { head } = await gateway.list(query(place, [['identity', who]]));
      const path = query(place, [
        ['identity', who],
        ['after', head],
        ['wait', 1000],
      ]);
      const { answer } = await held(gateway, path);
      const { entry } = await gateway.contribute(
        'garden',
        traceBody(who, { inReplyTo: parent.id }),
      );
      const listing = asObject((await answer).expect(200).json);
      assert.match(JSON.stringify(listing['entries']), new RegExp(entry.id));
      assert.ok(Number(listing['head']) >= entry.seq);
    }
  }),
  check(
    '12.4',
    'held',
    async (gateway) => {
      const identity = uniqueName();
      const place = query('/api/garden', [['identity', identity]]);
      const { head } = await gateway.list(place);
      const asked: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
        [`${place}&after=${head}&wait=99999999999`, {}],
        [`${place}&after=${head}&wait=${'9'.repeat(400)}`, {}],
        [`${place}&after=${head}&wait=1000.25&order=oldest&limit=1`, {}],
        [`${place}&after=${head}&wait=1000`, { accept: 'application/x-ndjson' }],
        [`${place}&after=${head}&wait=1000`, { 'accept-encoding': 'gzip;q=0, identity' }],
      ];
      const waits = await Promise.all(asked.map((one) => held(gateway, ...one)));
      const { entry } = await gateway.contribute('garden', traceBody(identity));
      for (const { answer } of waits) {
        const { text } = (await answer).expect(200);
        assert.equal(text.split(entry.text).length, 2, text);
      }
    },
    'in every form, for as long as one likes',
  ),
  check(
    '12.4',
    'held',
    async (gateway) => {
      const identity = uniqueName();
      const place = query('/api/garden', [['identity', identity]]);
      const { head } = await gateway.list(place);
      const etag = (await gateway.get(`${place}&after=${head}`)).header('etag') ?? '';
      const path = `${place}&after=${head}&wait=1000`;
      const { answer } = await held(gateway, path, { 'if-none-match': etag });
      const { entry } = await gateway.contribute('garden', traceBody(identity));
      assert.ok((await answer).expect(200).text.includes(entry.text));
    },
    'for a caller who has the answer of before',
  ),
  check('12.4', 'selection', async (gateway) => {
    const identity = uniqueName();
    const { head } = await gateway.list(query('/api/garden', [['identity', identity]]));
    const asked = query('/api/garden', [
      ['identity', identity],
      ['after', head],
      ['wait', 1000],
    ]);
    const { answer } = await held(gateway, asked);
    await gateway.contribute('garden', traceBody(uniqueName()));
    await gateway.contribute('seeds', traceBody(identity));
    for (let count = 0; count < 10; count += 1)
      await gateway.contribute('garden', traceBody(uniqueName()));
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const { text } = (await answer).expect(200);
    assert.ok(text.includes(entry.text), 'what is not asked for ends no waiting');
  }),
  check('12.4', 'time-up', async (gateway) => {
    const identity = uniqueName();
    await gateway.contribute('garden', traceBody(identity));
    const { head } = await gateway.list(query('/api/garden', [['identity', identity]]));
    for (const wait of ['0', '0.0', '0.05', '0.25', '1']) {
      const pairs: Pairs = [
        ['identity', identity],
        ['after', head],
        ['wait', wait],
      ];
      const listing = await gateway.list(query('/api/garden', pairs));
      assert.deepEqual([listing.entries, listing.next], [[], null]);
      assert.ok(listing.head >= head);
    }
  }),
  check('12.4', 'at-once', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const ask = async (...more: Pairs): Promise<string[]> => {
      const pairs: Pairs = [['identity', identity], ['wait', 1_000_000], ...more];
      return idsOf((await gateway.list(query('/api/garden', pairs))).entries);
    };
    assert.deepEqual(await ask(['after', 0]), [entry.id]);
    assert.deepEqual(await ask(['after', entry.seq - 1]), [entry.id]);
    assert.deepEqual(await ask(), [entry.id]);
    const pairs: Pairs = [
      ['identity', uniqueName()],
      ['wait', 1_000_000],
    ];
    assert.deepEqual((await gateway.list(query('/api/garden', pairs))).entries, []);
  }),
  check('12.4', 'unusable', async (gateway) => {
    for (const wait of ['', 'abc', '-1', '1,5', 'NaN', 'Infinity', '1 s', '0x10']) {
      for (const more of [[], [['after', 0]]] as const) {
        const answer = await gateway.get(query('/api/garden', [['wait', wait], ...more]));
        answer.problem(400, 'invalid-parameter');
      }
    }
  }),
];
