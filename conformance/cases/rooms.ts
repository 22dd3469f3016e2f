import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS, type Kind } from '../entry.ts';
import { contact, fresh, query, trace, type Gateway } from '../gateway.ts';
import { fields, list, text, whole, words, type Fields } from '../value.ts';

const FIELDS = ['slug', 'title', 'description', 'path', 'entries', 'latest'];

export function body(kind: Kind, identity: string, more: Fields = {}): string {
  return kind === 'resonance' ? contact(identity, [], more) : trace(identity, more);
}

async function room(gateway: Gateway, slug: string): Promise<Fields> {
  const rooms = list((await gateway.get('/api/rooms')).expect(200).json['rooms']).map(fields);
  return fields(rooms.find((one) => one['slug'] === slug));
}

/** One entry of every kind in one room. */
async function everyKind(gateway: Gateway, slug: string): Promise<string> {
  const identity = fresh();
  for (const kind of KINDS) await gateway.say(kind, body(kind, identity, { room: slug }));
  return identity;
}

export const rooms: readonly Case[] = [
  check('5', 'rooms', async (gateway) => {
    const answer = (await gateway.get('/api/rooms')).expect(200);
    assert.deepEqual(Object.keys(answer.json), ['rooms']);
    const all = list(answer.json['rooms']).map(fields);
    assert.ok(all.length > 0);
    for (const one of all) {
      assert.deepEqual(Object.keys(one), FIELDS);
      words(one['title']);
      words(one['description']);
      assert.equal(one['path'], `/api/rooms/${text(one['slug'])}`);
      assert.equal(one['latest'] === null, whole(one['entries']) === 0);
    }
    const [slug = ''] = await gateway.rooms();
    const before = await room(gateway, slug);
    await everyKind(gateway, slug);
    const { entry } = await gateway.say('garden', trace(fresh(), { room: slug }));
    const after = await room(gateway, slug);
    assert.ok(whole(after['entries']) >= whole(before['entries']) + 5);
    assert.ok(text(after['latest']) >= entry.timestamp);
  }),
  check('5', 'room-listing', async (gateway) => {
    for (const slug of await gateway.rooms()) {
      const identity = await everyKind(gateway, slug);
      const { fields: listing, entries } = await gateway.list(
        query(`/api/rooms/${slug}`, [['identity', identity]]),
      );
      assert.deepEqual(Object.keys(listing), ['room', 'entries', 'head', 'next']);
      assert.deepEqual(Object.keys(fields(listing['room'])), FIELDS);
      assert.equal(fields(listing['room'])['slug'], slug);
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
      assert.deepEqual(
        entries.map((entry) => entry.kind),
        [kind],
      );
    }
  }),
  check('5', 'room-chosen', async (gateway) => {
    for (const slug of await gateway.rooms()) {
      for (const kind of KINDS) {
        const { entry } = await gateway.say(kind, body(kind, fresh(), { room: slug }));
        assert.equal(entry.room, slug);
        assert.ok(!entry.said.includes('"room"'));
      }
    }
  }),
  check('5', 'room-by-kind', async (gateway) => {
    const known = await gateway.rooms();
    for (const kind of KINDS) {
      const { entry } = await gateway.say(kind, body(kind, fresh()));
      assert.equal(entry.room, await gateway.roomOf(kind));
      assert.ok(known.includes(entry.room));
    }
  }),
  check('5', 'no-such-room', async (gateway) => {
    const known = await gateway.rooms();
    const [first = ''] = known;
    const unknown = [fresh('room'), '', first.toUpperCase(), ` ${first}`, `${first}/`, '__proto__'];
    for (const slug of unknown) {
      const identity = fresh();
      const answer = await gateway.post('garden', trace(identity, { room: slug }));
      assert.deepEqual(answer.problem(422, 'unknown-room')['known'], known);
      assert.equal((await gateway.by(identity)).length, 0);
      if (slug === '' || slug.endsWith('/')) continue;
      const path = `/api/rooms/${encodeURIComponent(slug)}`;
      assert.deepEqual((await gateway.get(path)).problem(404, 'unknown-room')['known'], known);
    }
  }),
];
