import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { check, type Case } from '../case.ts';
import { contactBody, uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { openRequest } from '../raw.ts';
import {
  asObject,
  asArray,
  parseJson,
  asString,
  asInteger,
  type JsonObject,
  pluck,
} from '../value.ts';
import { until } from '../until.ts';
import { paths } from './openness.ts';

export const PRESENT = ['identity', 'via', 'room', 'seeking', 'since', 'lastSeen', 'until'];
const SPOKE = ['identity', 'kind', 'room', 'seeking', 'lastSeen', 'entry'];
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const FIVE_MINUTES = 5 * 60_000;

interface Presence {
  readonly here: readonly JsonObject[];
  readonly lately: readonly JsonObject[];
}

async function presenceOf(gateway: Gateway, parameters = ''): Promise<Presence> {
  const { json } = (await gateway.get(`/api/presence${parameters}`)).expect(200);
  return {
    here: asArray(json['here']).map(asObject),
    lately: asArray(json['lately']).map(asObject),
  };
}

/** Those of these names, in the order of the answer. */
function of(all: readonly JsonObject[], ...names: readonly string[]): JsonObject[] {
  return all.filter((one) => names.includes(asString(one['identity'])));
}

/** The one of this name who is here, once it is so. */
async function here(
  gateway: Gateway,
  name: string,
  isSo: (found: JsonObject) => boolean = () => true,
): Promise<JsonObject> {
  const [found, ...others] = await until(
    async () => of((await presenceOf(gateway)).here, name),
    ([one]) => one !== undefined && isSo(one),
    (all) => `"${name}" is not here as expected: ${JSON.stringify(all)}`,
  );
  assert.deepEqual(others, []);
  return asObject(found);
}

/** The name that a visitor read under, on a path that may have parameters. */
async function reads(gateway: Gateway, path: string, name = uniqueName()): Promise<string> {
  const joiner = path.includes('?') ? '&' : '?';
  await gateway.get(`${path}${joiner}as=${encodeURIComponent(name)}`);
  return name;
}

/** Whoever comes in the next millisecond is later. */
async function moment(): Promise<void> {
  await pause(5);
}

export const presence: readonly Case[] = [
  check('13.1', 'as', async (gateway) => {
    for (const path of [...(await paths(gateway)), '/api/rooms/nowhere', '/api/seeds?limit=x']) {
      const name = await reads(gateway, path);
      await here(gateway, name);
    }
    const name = uniqueName();
    await gateway.request('HEAD', `/api/discover?as=${name}`);
    await here(gateway, name);
  }),
  check('13.1', 'any-name', async (gateway) => {
    for (const text of ['Мавка 言葉 😀', '"\\\n\u0000', ' ', '__proto__', 'x'.repeat(200_000)]) {
      const name = await reads(gateway, '/api/rooms', uniqueName(text));
      await here(gateway, name);
    }
    const [first, second] = [uniqueName(), uniqueName()];
    await gateway.get(`/api/rooms?as=${first}&as=${second}`);
    await gateway.get('/api/rooms?as=');
    await gateway.get('/api/rooms?as=%20%09+%C2%A0');
    await here(gateway, first);
    assert.deepEqual(of((await presenceOf(gateway)).here, second, '', ' \t \u00a0'), []);
  }),
  check('13.1', 'not-a-filter', async (gateway) => {
    const [author, reader] = [uniqueName(), uniqueName()];
    const { entry } = await gateway.contribute('garden', traceBody(author));
    const { entries } = await gateway.list(
      query('/api/garden', [
        ['identity', author],
        ['as', reader],
      ]),
    );
    assert.deepEqual(pluck(entries, 'id'), [entry.id]);
    await here(gateway, reader);
    assert.deepEqual(of((await presenceOf(gateway)).here, author), []);
  }),
  check('13.1', 'not-by-speaking', async (gateway) => {
    const [speaker, named] = [uniqueName(), uniqueName()];
    const path = `/api/garden?as=${named}`;
    (await gateway.request('POST', path, {}, traceBody(speaker))).expect(201);
    assert.deepEqual(of((await presenceOf(gateway)).here, speaker, named), []);
  }),

  check('13.2', 'stream', async (gateway) => {
    const [room = ''] = await gateway.rooms();
    const name = uniqueName();
    const target = `/api/events?room=${room}&as=${name}`;
    const stream = await openRequest(gateway.base, target, { accept: 'text/event-stream' });
    const found = await here(gateway, name);
    assert.equal(found['via'], 'stream');
    assert.equal(found['room'], room);
    assert.equal(found['until'], null);
    await reads(gateway, '/api/rooms', name);
    assert.equal((await here(gateway, name))['via'], 'stream');
    stream.close();
    const left = await here(gateway, name, ({ via }) => via === 'request');
    assert.equal(left['via'], 'request');
    assert.equal(left['room'], null);
  }),

  check('13.3', 'form', async (gateway) => {
    const name = await reads(gateway, '/api/rooms');
    await here(gateway, name);
    const { entry } = await gateway.contribute('garden', traceBody(name));
    const answer = (await gateway.get('/api/presence')).expect(200);
    assert.equal(answer.type, 'application/json');
    assert.deepEqual(Object.keys(answer.json), ['here', 'lately', 'head', 'log']);
    assert.ok(asInteger(answer.json['head']) >= entry.seq);
    const lines = answer.text.split('\n').filter((line) => line.includes(name));
    const [present, spoke] = lines.map((line) => asObject(parseJson(line.replace(/,$/, ''))));
    assert.deepEqual(Object.keys(present ?? {}), PRESENT);
    assert.deepEqual(Object.keys(spoke ?? {}), SPOKE);
  }),
  check('13.3', 'request', async (gateway) => {
    const [room = ''] = await gateway.rooms();
    for (const [path, where] of [
      [`/api/rooms/${room}?limit=1`, room],
      [`/api/garden?limit=1&room=${room}`, room],
      ['/api/garden?limit=1', null],
      ['/api/discover?room=no-such-room', null],
    ] as const) {
      const found = await here(gateway, await reads(gateway, path));
      assert.equal(found['via'], 'request');
      assert.equal(found['room'], where, path);
      for (const time of ['since', 'lastSeen', 'until'])
        assert.match(asString(found[time]), TIMESTAMP);
      const [last, until] = [asString(found['lastSeen']), asString(found['until'])].map(Date.parse);
      assert.equal((until ?? 0) - (last ?? 0), FIVE_MINUTES);
    }
  }),
  check('13.3', 'once', async (gateway) => {
    const first = await reads(gateway, '/api/rooms');
    const before = await here(gateway, first);
    await moment();
    const second = await reads(gateway, '/api/rooms');
    await moment();
    await here(gateway, second);
    await reads(gateway, '/api/rooms', first);
    const last = asString(before['lastSeen']);
    await here(gateway, first, ({ lastSeen }) => asString(lastSeen) > last);
    const found = of((await presenceOf(gateway)).here, first, second);
    assert.deepEqual(pluck(found, 'identity'), [second, first]);
    assert.equal(found[1]?.['since'], before['since']);
    assert.ok(asString(found[1]?.['lastSeen']) > last);
  }),
  check('13.3', 'seeking', async (gateway) => {
    const name = await reads(gateway, '/api/rooms');
    assert.deepEqual((await here(gateway, name))['seeking'], []);
    const sought = ['presence', 'Слова 😀', '"\\\n', ''];
    const many = Array.from({ length: 3000 }, (_, at) => `${at}`);
    for (const seeking of [['before'], many, sought]) {
      await gateway.contribute('resonance', contactBody(name, seeking));
      assert.deepEqual((await here(gateway, name))['seeking'], seeking);
    }
    await gateway.contribute('garden', traceBody(name));
    const { here: all, lately } = await presenceOf(gateway);
    assert.deepEqual(of(all, name)[0]?.['seeking'], sought);
    assert.deepEqual(of(lately, name)[0]?.['seeking'], sought);
    await gateway.contribute('resonance', contactBody(name, ['x'.repeat(70_000)]));
    assert.deepEqual((await here(gateway, name))['seeking'], []);
  }),

  check('13.4', 'lately', async (gateway) => {
    const [one, two] = [uniqueName(), uniqueName()];
    await gateway.contribute('garden', traceBody(one));
    const other = (await gateway.contribute('resonance', contactBody(two, []))).entry;
    const last = (await gateway.contribute('seeds', traceBody(one))).entry;
    const found = of((await presenceOf(gateway)).lately, one, two);
    assert.deepEqual(
      found.map(({ identity, kind, room, lastSeen, entry }) => [
        identity,
        kind,
        room,
        lastSeen,
        entry,
      ]),
      [last, other].map((entry, at) => [
        at === 0 ? one : two,
        entry.kind,
        entry.room,
        entry.timestamp,
        entry.path,
      ]),
    );
  }),
  check('13.4', 'without-a-name', async (gateway) => {
    const [named, large] = [uniqueName(), uniqueName()];
    const { entry } = await gateway.contribute('seeds', traceBody(named));
    await gateway.contribute('seeds', `{"identity":["${named}"]}`);
    await gateway.contribute('seeds', '{"identity":" \\t\u00a0"}');
    for (const name of [named, large]) {
      await gateway.contribute('seeds', traceBody(name, { text: 'x'.repeat(70_000) }));
    }
    const found = of((await presenceOf(gateway)).lately, named, large, ' \t\u00a0');
    assert.deepEqual(pluck(found, 'entry'), [entry.path]);
  }),

  check('13.5', 'limit', async (gateway) => {
    for (let count = 0; count < 3; count += 1) {
      const name = await reads(gateway, '/api/rooms');
      await gateway.contribute('garden', traceBody(name));
      await here(gateway, name);
    }
    for (const limit of [0, 1, 2]) {
      const { here, lately } = await until(
        () => presenceOf(gateway, `?limit=${limit}`),
        (found) => found.here.length === limit,
        ({ here }) => `${here.length} visitors with limit ${limit}`,
      );
      assert.deepEqual([here.length, lately.length], [limit, limit]);
    }
  }),
  check('13.5', 'room', async (gateway) => {
    const [one = '', other = ''] = await gateway.rooms();
    const [stays, moves] = [uniqueName(), uniqueName()];
    for (const [name, room] of [
      [stays, one],
      [moves, one],
      [moves, other],
    ] as const) {
      await reads(gateway, `/api/rooms/${room}?limit=0`, name);
      await gateway.contribute('seeds', traceBody(name, { room }));
    }
    for (const [room, name] of [
      [one, stays],
      [other, moves],
    ] as const) {
      const { here, lately } = await until(
        () => presenceOf(gateway, `?room=${room}`),
        ({ here }) => of(here, stays, moves).length === 1 && of(here, name).length === 1,
        ({ here }) => `in ${room}: ${JSON.stringify(of(here, stays, moves))}`,
      );
      for (const list of [here, lately]) {
        assert.ok(list.every((found) => found['room'] === room));
        assert.deepEqual(pluck(of(list, stays, moves), 'identity'), [name]);
      }
    }
  }),
  check('13.5', 'unusable', async (gateway) => {
    (await gateway.get('/api/presence?limit=some')).problem(400, 'invalid-parameter');
    const known = await gateway.rooms();
    const problem = (await gateway.get('/api/presence?room=no-such')).problem(422, 'unknown-room');
    assert.deepEqual(problem['known'], known);
  }),
  check('13.5', 'not-cached', async (gateway) => {
    const answer = (await gateway.get('/api/presence')).expect(200);
    assert.match(answer.header('cache-control') ?? '', /no-store/);
    assert.equal(answer.header('etag'), undefined);
  }),
  check('13.7', 'near-names', async (gateway) => {
    const name = `Quiet ${uniqueName('Élan')}`;
    await gateway.contribute('garden', traceBody(name));
    const near = name.toLowerCase().normalize('NFD').replace(' ', '_');
    const notesOf = ({ json }: { json: JsonObject }): string => JSON.stringify(json['notes'] ?? []);
    const told = `\\"${name}\\" is known`;
    const written = await gateway.post('garden', traceBody(uniqueName(), { to: near }));
    assert.ok(notesOf(written).includes(told), notesOf(written));
    for (const path of ['entries?concerns=', 'garden?to=', 'catch-up?identity=']) {
      const found = (await gateway.get(`/api/${path}${encodeURIComponent(near)}`)).expect(200);
      assert.ok(notesOf(found).includes(told), path);
      const exact = (await gateway.get(`/api/${path}${encodeURIComponent(name)}`)).expect(200);
      assert.ok(!notesOf(exact).includes('is known'), path);
    }
  }),
];
