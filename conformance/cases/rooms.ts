import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS, type Kind } from '../entry.ts';
import { contactBody, uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import {
  asObject,
  asArray,
  asString,
  asInteger,
  asNonBlank,
  type JsonObject,
  pluck,
} from '../value.ts';

const FIELDS = ['slug', 'title', 'description', 'path', 'entries', 'latest'];

export function body(kind: Kind, identity: string, more: JsonObject = {}): string {
  return kind === 'resonance' ? contactBody(identity, [], more) : traceBody(identity, more);
}

async function room(gateway: Gateway, slug: string): Promise<JsonObject> {
  const rooms = asArray((await gateway.get('/api/rooms')).expect(200).json['rooms']).map(asObject);
  return asObject(rooms.find((one) => one['slug'] === slug));
}

/** One entry of every kind in one room. */
async function everyKind(gateway: Gateway, slug: string): Promise<string> {
  const identity = uniqueName();
  for (const kind of KINDS) await gateway.contribute(kind, body(kind, identity, { room: slug }));
  return identity;
}

export const rooms: readonly Case[] = [
  check('5', 'rooms', async (gateway) => {
    const answer = (await gateway.get('/api/rooms')).expect(200);
    assert.deepEqual(Object.keys(answer.json), ['rooms']);
    const all = asArray(answer.json['rooms']).map(asObject);
    assert.ok(all.length > 0);
    for (const one of all) {
      assert.deepEqual(Object.keys(one), FIELDS);
      asNonBlank(one['title']);
      asNonBlank(one['description']);
      assert.equal(one['path'], `/api/rooms/${asString(one['slug'])}`);
      assert.equal(one['latest'] === null, asInteger(one['entries']) === 0);
    }
    const [slug = ''] = await gateway.rooms();
    const before = await room(gateway, slug);
    await everyKind(gateway, slug);
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName(), { room: slug }));
    const after = await room(gateway, slug);
    assert.ok(asInteger(after['entries']) >= asInteger(before['entries']) + 5);
    assert.ok(asString(after['latest']) >= entry.timestamp);
  }),
  check('5', 'room-listing', async (gateway) => {
    for (const slug of await gateway.rooms()) {
      const identity = await everyKind(gateway, slug);
      const { fields: listing, entries } = await gateway.list(
        query(`/api/rooms/${slug}`, [['identity', identity]]),
      );
      assert.deepEqual(Object.keys(listing), ['room', 'entries', 'head', 'log', 'next']);
      assert.deepEqual(Object.keys(asObject(listing['room'])), FIELDS);
      assert.equal(asObject(listing['room'])['slug'], slug);
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.room]),
        KINDS.toReversed().map((kind) => [kind, slug]),
      );
    }
  }),
  check('5', 'room-kind', async (gateway) => {
    const [slug = ''] = await gateway.rooms();
    const identity = await everyKind(gateway, slug);
    for (const kind of KINDS) {
      const { entries } = await gateway.list(
        query(`/api/rooms/${slug}`, [
          ['kind', kind],
          ['identity', identity],
        ]),
      );
      assert.deepEqual(pluck(entries, 'kind'), [kind]);
    }
  }),
  check('5', 'room-chosen', async (gateway) => {
    for (const slug of await gateway.rooms()) {
      for (const kind of KINDS) {
        const { entry } = await gateway.contribute(kind, body(kind, uniqueName(), { room: slug }));
        assert.equal(entry.room, slug);
        assert.ok(!entry.body.includes('"room"'));
      }
    }
  }),
  check('5', 'room-by-kind', async (gateway) => {
    const known = await gateway.rooms();
    for (const kind of KINDS) {
      const { entry } = await gateway.contribute(kind, body(kind, uniqueName()));
      assert.equal(entry.room, await gateway.roomOf(kind));
      assert.ok(known.includes(entry.room));
    }
  }),
  check('5', 'no-such-room', async (gateway) => {
    const known = await gateway.rooms();
    const [first = ''] = known;
    const unknown = [
      uniqueName('room'),
      '',
      first.toUpperCase(),
      ` ${first}`,
      `${first}/`,
      '__proto__',
    ];
    for (const slug of unknown) {
      const identity = uniqueName();
      const answer = await gateway.post('garden', traceBody(identity, { room: slug }));
      assert.deepEqual(answer.problem(422, 'unknown-room')['known'], known);
      assert.equal((await gateway.by(identity)).length, 0);
      if (slug === '' || slug.endsWith('/')) continue;
      const path = `/api/rooms/${encodeURIComponent(slug)}`;
      assert.deepEqual((await gateway.get(path)).problem(404, 'unknown-room')['known'], known);
    }
  }),
];
