import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { check, type Case } from '../case.ts';
import { KINDS, type Entry } from '../entry.ts';
import { EventStream, Frames } from '../event-stream.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asArray, asObject, asString, parseJson } from '../value.ts';
import { idsOf, type Pairs } from './filters.ts';
import { body } from './rooms.ts';

const EVENTS = '/api/events';
const SSE = 'text/event-stream';

const by = (identity: string, ...more: Pairs): string =>
  query(EVENTS, [['identity', identity], ...more]);

async function crowd(gateway: Gateway, identity: string, count: number): Promise<Entry[]> {
  const said: Entry[] = [];
  for (let at = 0; at < count; at += 1) {
    const kind = KINDS[at % 4] ?? 'garden';
    said.push((await gateway.contribute(kind, body(kind, identity, { at }))).entry);
  }
  return said;
}

/** The entries as their own paths answer them. */
async function readings(gateway: Gateway, entries: readonly Entry[]): Promise<string[]> {
  return await Promise.all(entries.map(async ({ path }) => (await gateway.read(path)).text));
}

const textsOf = (entries: readonly Entry[]): string[] => entries.map(({ text }) => text);

export const streams: readonly Case[] = [
  check('12.1', 'comment', async (gateway) => {
    using stream = await EventStream.open(gateway, by(uniqueName()));
    for (;;) {
      const frame = await stream.frame();
      assert.ok(frame, 'a stream to which nothing comes stays open');
      assert.equal(frame.data, undefined);
      if (frame.comments.length > 0) break;
    }
  }),
  check('12.1', 'form', async (gateway) => {
    const identity = uniqueName();
    using stream = await EventStream.open(gateway, by(identity));
    const { answer } = stream;
    assert.equal(answer.type, SSE);
    assert.match(answer.header('cache-control') ?? '', /no-(store|cache)/);
    assert.equal(answer.header('content-length'), undefined);
    const said = await crowd(gateway, identity, 8);
    const taken = await stream.take(8);
    assert.deepEqual(textsOf(taken), await readings(gateway, said));
  }),
  check('12.1', 'beginning', async (gateway) => {
    const { entry } = await gateway.contribute('seeds', '{}');
    const answer = (await gateway.get(`${EVENTS}?limit=0`)).expect(200);
    assert.equal(answer.type, SSE);
    const [first, ...more] = new Frames()
      .push(answer.bytes)
      .filter(({ data }) => data !== undefined);
    assert.deepEqual(more, []);
    assert.equal(first?.event, 'head');
    assert.match(first.id ?? '', /^\d+$/);
    const { log } = await gateway.list('/api/garden?limit=0');
    const { count } = (await gateway.get('/api/withheld?limit=0')).expect(200).json;
    assert.deepEqual(parseJson(first.data ?? ''), { head: Number(first.id), log, cases: count });
    assert.match(answer.text, /^retry: 1000\n/);
    assert.ok(Number(first.id) >= entry.seq);
  }),
  check(
    '12.1',
    'form',
    async (gateway) => {
      const identity = uniqueName();
      const { entry } = await gateway.contribute('garden', traceBody(identity));
      const path = by(identity, ['after', 0], ['limit', 1]);
      const { text } = (await gateway.get(path)).expect(200);
      const frame = `id: ${entry.seq}\nevent: garden\ndata: ${entry.text}\n\n`;
      assert.ok(text.endsWith(`\n\n${frame}`), text);
    },
    'line by line',
  ),
  check('12.1', 'places', async (gateway) => {
    const identity = uniqueName();
    const { entry: parent } = await gateway.contribute('garden', traceBody(identity));
    const slugs = await gateway.rooms();
    for (const accept of [SSE, 'application/json', '*/*', 'application/x-ndjson', '']) {
      const answer = (await gateway.get(`${EVENTS}?limit=0`, { accept })).expect(200);
      assert.equal(answer.type, SSE, accept);
    }
    const places = [
      ...KINDS.map((kind) => `/api/${kind}`),
      ...slugs.map((slug) => `/api/rooms/${slug}`),
      `${parent.path}/replies`,
    ];
    const opened = await Promise.all(
      places.map(async (place) => await EventStream.open(gateway, place)),
    );
    try {
      const said: Entry[] = [];
      for (const slug of slugs) {
        for (const kind of KINDS) {
          const more = { room: slug, inReplyTo: parent.id };
          said.push((await gateway.contribute(kind, body(kind, identity, more))).entry);
        }
      }
      for (const [at, stream] of opened.entries()) {
        const place = places[at] ?? '';
        const wanted = said.filter(
          ({ kind, room }) =>
            [`/api/${kind}`, `/api/rooms/${room}`].includes(place) || place.endsWith('/replies'),
        );
        const taken: Entry[] = [];
        while (taken.length < wanted.length) {
          const [entry] = await stream.take(1);
          if (said.some(({ id }) => id === entry?.id) && entry) taken.push(entry);
        }
        assert.deepEqual(idsOf(taken), idsOf(wanted), place);
      }
    } finally {
      for (const stream of opened) stream.close();
    }
    for (const place of places) {
      const answer = (await gateway.get(`${place}?limit=0`, { accept: '*/*' })).expect(200);
      assert.equal(answer.type, 'application/json', place);
    }
    const missing = await gateway.get(`/api/rooms/${uniqueName()}`, { accept: SSE });
    missing.problem(404, 'unknown-room');
  }),
  check('12.1', 'in-order', async (gateway) => {
    const identity = uniqueName();
    using stream = await EventStream.open(gateway, by(identity));
    const saying = Array.from({ length: 20 }, () => crowd(gateway, identity, 10));
    const said = (await Promise.all(saying)).flat().toSorted((a, b) => a.seq - b.seq);
    assert.deepEqual(idsOf(await stream.take(200)), idsOf(said));
  }),
  check(
    '1.4',
    'head',
    async (gateway) => {
      const places = [EVENTS, '/api/garden', `/api/rooms/${await gateway.roomOf('garden')}`];
      for (const place of places) {
        const answer = (await gateway.request('HEAD', place, { accept: SSE })).expect(200);
        assert.equal(answer.type, SSE);
        assert.equal(answer.bytes.length, 0);
      }
    },
    'of an event stream',
  ),
];

export const resuming: readonly Case[] = [
  check('12.2', 'from-now', async (gateway) => {
    const identity = uniqueName();
    const before = await crowd(gateway, identity, 3);
    // A gateway of a cluster has it at the latest when it is asked for it by name.
    await gateway.read(`/api/entries/${before.at(-1)?.id}`);
    using stream = await EventStream.open(gateway, by(identity));
    assert.ok(stream.head >= (before.at(-1)?.seq ?? 0));
    const said = await crowd(gateway, identity, 3);
    assert.deepEqual(idsOf(await stream.take(3)), idsOf(said));
    assert.ok(stream.head < (said[0]?.seq ?? 0));
  }),
  check('12.2', 'after', async (gateway) => {
    const identity = uniqueName();
    const said = await crowd(gateway, identity, 6);
    for (const [at, after] of [0, ...said.map(({ seq }) => seq)].entries()) {
      using stream = await EventStream.open(gateway, by(identity, ['after', after]));
      assert.equal(stream.head, after);
      assert.deepEqual(idsOf(await stream.take(said.length - at)), idsOf(said.slice(at)));
      const { entry } = await gateway.contribute('seeds', traceBody(identity));
      assert.deepEqual(idsOf(await stream.take(1)), [entry.id]);
      said.push(entry);
    }
  }),
  check('12.2', 'last-event-id', async (gateway) => {
    const identity = uniqueName();
    const said = await crowd(gateway, identity, 5);
    const last = String(said[1]?.seq);
    for (const more of [[], [['after', 0]], [['after', said[3]?.seq ?? 0]]] as const) {
      const path = by(identity, ['limit', 3], ...more);
      using stream = await EventStream.open(gateway, path, { 'last-event-id': last });
      assert.equal(stream.head, said[1]?.seq);
      assert.deepEqual(idsOf(await stream.rest()), idsOf(said.slice(2)));
    }
    const from = { 'last-event-id': '0' };
    using stream = await EventStream.open(gateway, by(identity), from);
    assert.deepEqual(idsOf(await stream.take(5)), idsOf(said));
  }),
  check('12.2', 'cut-before-first', async (gateway) => {
    const identity = uniqueName();
    let head: number;
    {
      using stream = await EventStream.open(gateway, by(identity));
      ({ head } = stream);
    }
    const said = await crowd(gateway, identity, 3);
    const from = { 'last-event-id': String(head) };
    using stream = await EventStream.open(gateway, by(identity), from);
    assert.deepEqual(idsOf(await stream.take(3)), idsOf(said));
  }),
  check('12.2', 'since', async (gateway) => {
    const identity = uniqueName();
    const said: Entry[] = [];
    for (let at = 0; at < 4; at += 1) {
      said.push(...(await crowd(gateway, identity, 1)));
      await pause(2);
    }
    const since = said[2]?.timestamp ?? '';
    using stream = await EventStream.open(gateway, by(identity, ['since', since]));
    const wanted = said.filter(({ timestamp }) => timestamp >= since);
    assert.deepEqual(idsOf(await stream.take(wanted.length)), idsOf(wanted));
    const later = await crowd(gateway, identity, 2);
    assert.deepEqual(idsOf(await stream.take(2)), idsOf(later));
  }),
  check('12.2', 'each-once', async (gateway) => {
    const identity = uniqueName();
    const count = 200;
    using empty = await EventStream.open(gateway, by(identity, ['limit', 0]));
    let cursor = empty.head;
    const saying = Promise.all(
      Array.from({ length: 8 }, () => crowd(gateway, identity, count / 8)),
    );
    const taken: Entry[] = [];
    for (let some = 1; taken.length < count; some = (some * 7) % 31) {
      const from = { 'last-event-id': String(cursor) };
      using stream = await EventStream.open(gateway, by(identity), from);
      taken.push(...(await stream.take(Math.min(some, count - taken.length))));
      cursor = taken.at(-1)?.seq ?? cursor;
    }
    const said = (await saying).flat().toSorted((a, b) => a.seq - b.seq);
    assert.deepEqual(idsOf(taken), idsOf(said));
  }),
  check('12.2', 'foreign-cursor', async (gateway) => {
    const { head, log } = await gateway.list('/api/entries?limit=0');
    const beyond = head + 1_000_000;
    const identity = uniqueName();
    for (const [path, headers] of [
      [by(identity, ['after', beyond]), {}],
      [by(identity), { 'last-event-id': String(beyond) }],
    ] as const) {
      const { bytes } = await gateway.get(`${path}&limit=0`, { accept: SSE, ...headers });
      const [first] = new Frames().push(bytes).filter(({ data }) => data !== undefined);
      const data = asObject(parseJson(first?.data ?? ''));
      assert.equal(data['log'], log);
      assert.ok(asArray(data['notes']).map(asString).join().includes(String(beyond)));
      using stream = await EventStream.open(gateway, path, headers);
      assert.ok(stream.head >= head && stream.head < beyond);
      const { entry } = await gateway.contribute('garden', traceBody(identity));
      assert.deepEqual(idsOf(await stream.take(1)), [entry.id]);
    }
  }),
  check('12.2', 'unusable', async (gateway) => {
    for (const id of ['abc', '-1', '1.5', '1e3', '0x1', '1 2', '1,2']) {
      const headers = { accept: SSE, 'last-event-id': id };
      for (const place of [
        `${EVENTS}?limit=0`,
        '/api/garden?limit=0',
        `${EVENTS}?limit=0&after=0`,
      ]) {
        (await gateway.get(place, headers)).problem(400, 'invalid-parameter');
      }
    }
    for (const after of ['abc', '-1', '1.5']) {
      const answer = await gateway.get(query(EVENTS, [['after', after]]));
      answer.problem(400, 'invalid-parameter');
    }
  }),
];
