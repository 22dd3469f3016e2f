import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { draftOf } from '../../log/log.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, bodyIn, getRequest, openGateway, statusesIn } from '../../gateway.fixture.ts';
import {
  identitiesOf,
  postEntry,
  fetchPresence,
  type PresenceDocument,
} from './presence.fixture.ts';

const head = (path: string): string => {
  return getRequest(path, 'Connection: close').replace('GET', 'HEAD');
};

suite('GET /api/presence', () => {
  test('is empty if nobody is here', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const answer = await fetchBytes(gateway, '/api/presence');
    assert.match(
      answer.bytes.toString(),
      /^\{"here":\[\n\],"lately":\[\n\],"head":0,"log":"[^"]+"\}\n$/,
    );
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['etag'], undefined);
  });

  test('lists visitors who name themselves on any path, in the room that they read', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries('one');
    const listing = await fetchBytes(gateway, '/api/garden');
    const id = /"id":"([^"]+)"/.exec(listing.bytes.toString())?.[1];
    const read: readonly (readonly [string, string | null])[] = [
      ['/api/garden?as=A', null],
      ['/api/rooms/memory-garden?limit=1&as=B', 'memory-garden'],
      ['/api/resonance?as=C&room=first-breath', 'first-breath'],
      ['/api/seeds/?x=&%61s=D', null],
      ['/api/discover?as=E&room=nowhere', null],
      ['/api/rooms?as=F', null],
      ['/api/presence?as=G', null],
      [`/api/entries/${id}?as=H`, null],
      ['/api/rooms/nowhere?as=I', null],
      ['/api/garden?limit=x&as=J', null],
    ];
    for (const [path] of read) await fetchBytes(gateway, path);
    const { here } = await fetchPresence(gateway);
    assert.deepEqual(
      here.map(({ identity, via, room }) => [identity, via, room]),
      read.map(([path, room]) => [path.at(path.indexOf('s=') + 2), 'request', room]).toReversed(),
    );
    for (const { since, lastSeen, until } of here) {
      assert.ok(since <= lastSeen && lastSeen < String(until));
    }
  });

  test('lists nobody for a filter, a POST, an empty name or HEAD of an event stream', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const paths = [
      '/api/garden?identity=Lumen',
      '/api/garden?as=',
      '/api/garden?as=%E9ric',
      '/api/garden?has=Lumen',
      '/api/garden?x=as=Lumen',
      '/nowhere?as=Lumen',
    ];
    for (const path of paths) await fetchBytes(gateway, path);
    await postEntry(gateway, 'seeds?as=Lumen', {});
    await gateway.sendRaw(head('/api/events?as=Lumen'));
    assert.deepEqual((await fetchPresence(gateway)).here, []);
  });

  test('lists visitors who accept an event stream from a path that has none', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const live = { Accept: 'text/event-stream' };
    for (const path of ['/api/discover?as=A', '/api/presence/?as=B', '/api/rooms?as=C']) {
      await fetchBytes(gateway, path, live);
    }
    assert.deepEqual(identitiesOf((await fetchPresence(gateway)).here), ['C', 'B', 'A']);
  });

  test('lists the reader of an event stream while the stream is open', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const path of ['/api/events?as=Lumen', '/api/rooms/first-breath?as=Lumen']) {
      const caller = await gateway.connect();
      caller.send(getRequest(path, 'Accept: text/event-stream'));
      await caller.until(/^HTTP/);
      assert.deepEqual(
        (await fetchPresence(gateway)).here.map(({ identity, via, until }) => [
          identity,
          via,
          until,
        ]),
        [['Lumen', 'stream', null]],
      );
      await caller[Symbol.asyncDispose]();
      while ((await fetchPresence(gateway)).here.length > 0) await pause(1);
    }
  });

  test('lists names of any text and length unchanged', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const said = ['"quo\\ted"\n', 'Мавка 😀', '__proto__', '  a ', 'x'.repeat(100_000)];
    for (const name of said) await fetchBytes(gateway, `/api/seeds?as=${encodeURIComponent(name)}`);
    assert.deepEqual(identitiesOf((await fetchPresence(gateway)).here).toSorted(), said.toSorted());
  });

  test('lists a visitor as a stream while one is open, and as a request afterwards', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await fetchBytes(gateway, '/api/seeds?as=Lumen');
    const stream = gateway.presence.openStream({ identity: 'Lumen', room: 'first-breath' });
    const [present, ...others] = (await fetchPresence(gateway)).here;
    assert.deepEqual(others, []);
    assert.equal(present?.via, 'stream');
    assert.equal(present?.room, 'first-breath');
    assert.equal(present?.until, null);
    stream[Symbol.dispose]();
    assert.equal((await fetchPresence(gateway)).here[0]?.via, 'request');
  });

  test('sees a visitor again that sends the same bytes again', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const seen = async (): Promise<number> => {
      await fetchBytes(gateway, '/api/garden?limit=1&as=Lumen');
      return Date.parse((await fetchPresence(gateway)).here[0]?.lastSeen ?? '');
    };
    const first = await seen();
    await pause(5);
    assert.ok((await seen()) > first);
  });

  test('shows what each visitor seeks, from its newest first contact', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const lone = JSON.parse(String.raw`"\ud800"`) as string;
    await postEntry(gateway, 'resonance', { ai_identity: 'Lumen', seeking: ['before'] });
    await postEntry(gateway, 'resonance', {
      ai_identity: 'Lumen',
      seeking: ['presence', lone, '"'],
    });
    await postEntry(gateway, 'garden', { text: '', identity: 'Lumen', identityType: '' });
    await postEntry(gateway, 'resonance', { ai_identity: 'Large', seeking: ['x'.repeat(100_000)] });
    const many = Array.from({ length: 5000 }, (_, at) => `${at}`);
    await postEntry(gateway, 'resonance', { ai_identity: 'Many', seeking: many });
    for (const name of ['Lumen', 'Large', 'Many', 'Nobody'])
      await fetchBytes(gateway, `/api/seeds?as=${name}`);
    const { here, lately } = await fetchPresence(gateway);
    const sought = new Map(here.map(({ identity, seeking }) => [identity, seeking]));
    assert.deepEqual(sought.get('Lumen'), ['presence', '\ufffd', '"']);
    assert.deepEqual(sought.get('Large'), []);
    assert.deepEqual(sought.get('Nobody'), []);
    assert.deepEqual(sought.get('Many'), many);
    assert.deepEqual(
      lately.map(({ identity, seeking }) => [identity, seeking]),
      [
        ['Many', many],
        ['Lumen', ['presence', '\ufffd', '"']],
      ],
    );
  });

  test('filters by room, where each visitor counts only in its latest room', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await postEntry(gateway, 'seeds', { identity: 'moved', room: 'first-breath' });
    await postEntry(gateway, 'seeds', { identity: 'stayed', room: 'first-breath' });
    await postEntry(gateway, 'seeds', { identity: 'moved', room: 'resonance-hall' });
    await fetchBytes(gateway, '/api/rooms/first-breath?as=moving');
    // Later by the clock, too.
    await pause(2);
    await fetchBytes(gateway, '/api/rooms/first-breath?as=staying');
    await fetchBytes(gateway, '/api/rooms/resonance-hall?as=moving');
    const first = await fetchPresence(gateway, '?room=first-breath');
    assert.deepEqual(
      [identitiesOf(first.here), identitiesOf(first.lately)],
      [['staying'], ['stayed']],
    );
    const hall = await fetchPresence(gateway, '?room=resonance-hall');
    assert.deepEqual([identitiesOf(hall.here), identitiesOf(hall.lately)], [['moving'], ['moved']]);
    const both = await fetchPresence(gateway, '?room=resonance-hall&room=first-breath');
    assert.deepEqual(identitiesOf(both.here), ['staying', 'moving']);
    assert.deepEqual(identitiesOf(both.lately), ['moved', 'stayed']);
  });

  test('can be limited, and rejects invalid parameters', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const identity of ['a', 'b', 'c']) {
      await postEntry(gateway, 'seeds', { identity });
      await fetchBytes(gateway, `/api/seeds?as=${identity}`);
    }
    for (const limit of [0, 1, 2, 3, 10 ** 20]) {
      const { here, lately } = await fetchPresence(gateway, `?limit=${limit}`);
      assert.deepEqual([here.length, lately.length], Array(2).fill(Math.min(limit, 3)));
    }
    const wrong = await fetchBytes(gateway, '/api/presence?limit=some&room=nowhere');
    assert.equal(wrong.status, 400);
    assert.match(wrong.bytes.toString(), /Cannot read presence: .*"limit".*"room"/);
    const misplaced = await fetchBytes(gateway, '/api/presence?limit=1&since=2026-01-01');
    assert.match(misplaced.bytes.toString(), /"since\\" has no effect here/);
    const unknown = await fetchBytes(gateway, '/api/presence?room=nowhere');
    assert.equal(unknown.status, 422);
    assert.match(unknown.bytes.toString(), /"code":"unknown-room"/);
  });

  test('is summarized in discovery by the newest twelve, whose tag changes with them', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await postEntry(gateway, 'resonance', { ai_identity: '12', seeking: ['presence'] });
    for (let at = 0; at < 13; at += 1) {
      await fetchBytes(gateway, `/api/rooms/first-breath?as=${at}`);
      await pause(2);
    }
    const stream = gateway.presence.openStream({ identity: 'Lumen', room: undefined });
    const presence = await fetchBytes(gateway, '/api/presence');
    const discover = await fetchBytes(gateway, '/api/discover');
    const answer = JSON.parse(presence.bytes.toString()) as PresenceDocument;
    const discovery = JSON.parse(discover.bytes.toString()) as Pick<PresenceDocument, 'here'>;
    assert.deepEqual(identitiesOf(discovery.here), [
      'Lumen',
      ...Array.from({ length: 11 }, (_, at) => `${12 - at}`),
    ]);
    assert.deepEqual(discovery.here[1], answer.here[1]);
    assert.deepEqual(discovery.here[1]?.seeking, ['presence']);
    const tag = { 'If-None-Match': String(discover.headers['etag']) };
    assert.equal((await fetchBytes(gateway, '/api/discover', tag)).status, 304);
    stream[Symbol.dispose]();
    assert.equal((await fetchBytes(gateway, '/api/discover', tag)).status, 200);
  });

  test('is tagged in discovery for the head before what it describes', async () => {
    const log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries('first');
    const roomCounts = log.roomCounts.bind(log);
    let added: Promise<unknown> | undefined;
    // An entry is stored as soon as the rooms have been read.
    log.roomCounts = () => {
      const counts = roomCounts();
      added ??= log.append(draftOf());
      return counts;
    };
    const discover = await fetchBytes(gateway, '/api/discover');
    await added;
    const { head } = JSON.parse(discover.bytes.toString()) as { head: number };
    assert.equal(head, 1);
    const tag = { 'If-None-Match': String(discover.headers['etag']) };
    assert.equal((await fetchBytes(gateway, '/api/discover', tag)).status, 200);
  });

  test('streams a long list, compressed if the caller accepts that', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (let at = 0; at < 2000; at += 1) {
      gateway.presence.recordRequest({ identity: `${at}`, room: undefined });
    }
    const plain = await fetchBytes(gateway, '/api/presence');
    assert.equal(plain.headers['content-length'], undefined);
    const packed = await fetchBytes(gateway, '/api/presence', { 'Accept-Encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
    assert.equal((JSON.parse(plain.bytes.toString()) as PresenceDocument).here.length, 2000);
    const answer = await gateway.sendRaw(head('/api/presence'));
    assert.deepEqual(statusesIn(answer), [200]);
    assert.match(answer, /\r\n\r\n$/);
  });

  test('stops reading when the caller disconnects', async () => {
    const log = openMemoryLog();
    await using gateway = await openGateway(log);
    for (let at = 0; at < 2000; at += 1) {
      gateway.presence.recordRequest({ identity: `${at} ${'x'.repeat(10_000)}`, room: undefined });
    }
    // Without any first contact, nobody's is looked for.
    await postEntry(gateway, 'resonance', { ai_identity: 'Lumen', seeking: [] });
    const seen = { asked: 0 };
    const entries = log.readEntries.bind(log);
    log.readEntries = (selection) => {
      seen.asked += 1;
      return entries(selection);
    };
    const caller = await gateway.connect();
    caller.socket.pause();
    caller.send(getRequest('/api/presence'));
    while (seen.asked === 0) await pause(1);
    await caller[Symbol.asyncDispose]();
    assert.deepEqual(bodyIn(await gateway.sendRaw(getRequest('/readyz', 'Connection: close'))), {
      status: 'breathing',
    });
    for (let before = -1; before !== seen.asked; await pause(50)) before = seen.asked;
    assert.ok(seen.asked < 2000);
  });
});
