import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS, type Entry, type Kind } from '../entry.ts';
import { EventStream } from '../event-stream.ts';
import { contactBody, uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asObject, asArray, asString } from '../value.ts';
import { until } from '../until.ts';
import { body } from './rooms.ts';

export type Pairs = readonly (readonly [string, string | number])[];

export const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);

export async function found(
  gateway: Gateway,
  pairs: Pairs,
  path = '/api/garden',
): Promise<string[]> {
  return idsOf((await gateway.list(query(path, pairs))).entries);
}

export async function garden(gateway: Gateway, identity: string, more = {}): Promise<Entry> {
  return (await gateway.contribute('garden', traceBody(identity, more))).entry;
}

/** Whether a filter, as section 8.2 says it, takes an entry. */
function takes(entry: Entry, name: string, value: string): boolean {
  const said = (member: string): unknown => entry.fields[member];
  const has = (it: unknown): boolean => it === value || (Array.isArray(it) && it.includes(value));
  if (name === 'identity') return said('identity') === value || said('ai_identity') === value;
  if (name === 'seeking' || name === 'to') return has(said(name));
  return said(name) === value;
}

/** Entries of two identities that differ in everything by which one can filter. */
async function crowd(gateway: Gateway, names: readonly [string, string]): Promise<Entry[]> {
  const [a, b] = names;
  const [one = '', two = one] = await gateway.rooms();
  const said: (readonly [Kind, string])[] = [];
  let at = 0;
  for (const identity of names) {
    for (const to of [undefined, a, [a, b], [b, 'x']]) {
      for (const seeking of ['p', ['p', 'q'], ['q']]) {
        at += 1;
        const room = at % 2 === 0 ? one : two;
        const inReplyTo = at % 3 === 0 ? a : undefined;
        const identityType = at % 5 < 3 ? 'x' : 'y';
        const more = { seeking, identityType, room, to, inReplyTo };
        if (at % 4 === 0)
          said.push([
            'resonance',
            contactBody(identity, [seeking].flat(), { ...more, seeking: [seeking].flat() }),
          ]);
        else said.push([KINDS[at % 4] ?? 'garden', traceBody(identity, more)]);
      }
    }
  }
  const entries = [];
  for (const [kind, body] of said) entries.push((await gateway.contribute(kind, body)).entry);
  return entries;
}

/** A JSON string that is all escapes. */
function escaped(value: string): string {
  const units = Array.from({ length: value.length }, (_, at) =>
    value.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

/** Every combination of one choice from each list. */
function combinations<T>(choices: readonly (readonly T[])[]): T[][] {
  return choices.reduce<T[][]>(
    (all, list) => all.flatMap((some) => list.map((one) => [...some, one])),
    [[]],
  );
}

export const filters: readonly Case[] = [
  check('8.2', 'filters', async (gateway) => {
    const base = uniqueName();
    const values = [
      base,
      base.toUpperCase(),
      `${base} `,
      ` ${base}`,
      `${base}%`,
      `${base}*`,
      `${base}+&=?#/`,
      `${base}é`,
      `${base}e\u0301`,
      `${base}\u0000`,
      `${base}\n"\\`,
      `${base}👩🏽‍🚀א\u202E`,
      `${base}${'x'.repeat(100_000)}`,
      `${base}${'x'.repeat(100_001)}`,
    ];
    const said = [];
    for (const value of values) {
      said.push(await garden(gateway, value, { identityType: value, to: value, inReplyTo: value }));
    }
    for (const [at, value] of values.entries()) {
      for (const name of ['identity', 'identityType', 'to', 'inReplyTo']) {
        assert.deepEqual(await found(gateway, [[name, value]]), [said[at]?.id], name);
      }
    }
  }),
  check(
    '8.2',
    'filters',
    async (gateway) => {
      const padding = `"padding":"${'x'.repeat(100_000)}"`;
      for (const more of ['"n":1', '"id":1', '"room":null', padding]) {
        const name = `${uniqueName()} é 言葉 👩🏽‍🚀 "\\`;
        for (const [count, value] of [JSON.stringify(name), escaped(name)].entries()) {
          const said = `{"to":${value},${more},"identity":${value},"seeking":["",${value}]}`;
          const { entry } = await gateway.contribute('shepit', said);
          for (const filter of ['identity', 'to', 'seeking']) {
            const ids = await found(gateway, [[filter, name]], '/api/shepit');
            assert.equal(ids.length, count + 1, `${filter} in {${more.slice(0, 20)}}`);
            assert.equal(ids[0], entry.id);
          }
        }
      }
    },
    'however they are spelled',
  ),
  check('8.2', 'combined', async (gateway) => {
    const names = [uniqueName('a'), uniqueName('b')] as const;
    const [a, b] = names;
    const entries = (await crowd(gateway, names)).toReversed();
    const chosen = combinations<readonly [string, string] | undefined>([
      names.map((name) => ['identity', name] as const),
      [undefined, ['identityType', 'x'], ['identityType', 'y']],
      [undefined, ['seeking', 'p'], ['seeking', 'q']],
      [undefined, ['to', a], ['to', b]],
      [undefined, ['to', 'x'], ['inReplyTo', a], ['seeking', 'p'], ['identity', b]],
    ]);
    const slugs = await gateway.rooms();
    for (const [at, choice] of chosen.entries()) {
      const pairs = choice.filter((pair) => pair !== undefined);
      const kind = KINDS[at % 4] ?? 'garden';
      const slug = slugs[at % 2] ?? slugs[0] ?? '';
      const fitting = entries.filter((entry) => pairs.every((pair) => takes(entry, ...pair)));
      const inRoom = fitting.filter((entry) => entry.room === slug);
      const ofKind = fitting.filter((entry) => entry.kind === kind);
      const both = inRoom.filter((entry) => entry.kind === kind);
      const what = JSON.stringify(pairs);
      assert.deepEqual(await found(gateway, pairs, `/api/${kind}`), idsOf(ofKind), what);
      assert.deepEqual(await found(gateway, pairs, `/api/rooms/${slug}`), idsOf(inRoom), what);
      const ofBoth = await found(gateway, [...pairs, ['room', slug]], `/api/${kind}`);
      assert.deepEqual(ofBoth, idsOf(both), what);
      const again = await found(gateway, [['kind', kind], ...pairs], `/api/rooms/${slug}`);
      assert.deepEqual(again, idsOf(both), what);
    }
  }),
  check('8.2', 'alternatives', async (gateway) => {
    const identity = uniqueName();
    const slugs = (await gateway.rooms()).slice(0, 3);
    const said: Entry[] = [];
    for (const kind of KINDS) {
      for (const room of slugs) {
        const more = body(kind, identity, { room, text: 'alternative' });
        said.unshift((await gateway.contribute(kind, more)).entry);
      }
    }
    const [one = '', two = ''] = slugs;
    const of = (kinds: readonly string[], rooms: readonly string[]): string[] =>
      idsOf(said.filter(({ kind, room }) => kinds.includes(kind) && rooms.includes(room)));
    const [kinds, both] = [
      ['garden', 'shepit'],
      [one, two],
    ];
    const asKinds = kinds.map((kind) => ['kind', kind] as const);
    const asRooms = both.map((room) => ['room', room] as const);
    for (const [pairs, path, wanted] of [
      [asKinds, '/api/entries', of(kinds, slugs)],
      [asKinds, `/api/rooms/${one}`, of(kinds, [one])],
      [asRooms, '/api/seeds', of(['seeds'], both)],
      [[...asKinds, ...asRooms], '/api/entries', of(kinds, both)],
    ] as const) {
      assert.deepEqual(await found(gateway, [...pairs, ['identity', identity]], path), wanted);
    }
    const all = [...asKinds, ...asRooms, ['identity', identity] as const];
    const search = query('/api/search', [['q', 'alternative'], ['order', 'newest'], ...all]);
    const searched = async (): Promise<string[]> => {
      const results = asArray((await gateway.get(search)).expect(200).json['results']);
      return results.map((result) => asString(asObject(asObject(result)['entry'])['id']));
    };
    const wanted = of(kinds, both).join();
    await until(searched, (ids) => ids.join() === wanted);
    const feed = await gateway.get(query('/feed.json', all));
    assert.equal(asArray(feed.json['items']).length, of(kinds, both).length);
    using stream = await EventStream.open(
      gateway,
      query('/api/events', [...all, ['after', 0], ['limit', 4]]),
    );
    assert.deepEqual(idsOf(await stream.rest()), of(kinds, both).toReversed().slice(0, 4));
  }),
  check('8.2', 'fixed', async (gateway) => {
    const [one = '', two = ''] = await gateway.rooms();
    (await gateway.get('/api/garden?kind=garden&limit=0')).expect(200);
    (await gateway.get(`/api/rooms/${one}?room=${one}&limit=0`)).expect(200);
    for (const [path, instead] of [
      ['/api/garden?kind=seeds', '/api/entries?kind=seeds'],
      ['/api/garden.atom?kind=seeds', '/api/entries?kind=seeds'],
      [`/api/rooms/${one}?room=${two}`, `/api/entries?room=${two}`],
    ] as const) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const answer = await gateway.get(path, { accept });
        assert.ok(asString(answer.problem(400, 'invalid-parameter')['detail']).includes(instead));
      }
    }
  }),
  check('8.2', 'many', async (gateway) => {
    const name = uniqueName();
    const to = Array.from({ length: 25_001 }, (_, at) => `${name}-${at}`);
    const { id } = await garden(gateway, name, { to });
    for (const at of [0, 24_999])
      assert.deepEqual(await found(gateway, [['to', `${name}-${at}`]]), [id]);
    assert.deepEqual(await found(gateway, [['to', `${name}-25000`]]), []);
  }),
  check('8.2', 'exact-types', async (gateway) => {
    const word = uniqueName();
    const others = [
      { identity: [word], ai_identity: { name: word }, identityType: [word] },
      { identity: { identity: word }, seeking: { 0: word }, text: word },
      { more: { to: word, seeking: [word], identity: word }, seeking: [[word]] },
      { identity: 5, identityType: null, seeking: true, author: word },
      { seeking: [word, 5] },
      { seeking: [null, word] },
    ];
    const padding = 'x'.repeat(100_000);
    for (const other of others) {
      for (const more of [{}, { id: 1 }, { padding }]) {
        await gateway.contribute('seeds', JSON.stringify({ ...other, ...more }));
      }
    }
    for (const name of ['identity', 'identityType', 'seeking', 'to', 'inReplyTo']) {
      assert.deepEqual(await found(gateway, [[name, word]], '/api/seeds'), [], name);
    }
    const said = [];
    for (const other of [{ identity: word }, { ai_identity: word }]) {
      said.unshift((await gateway.contribute('seeds', JSON.stringify(other))).entry.id);
    }
    assert.deepEqual(await found(gateway, [['identity', word]], '/api/seeds'), said);
  }),
  check('8.2', 'unusable', async (gateway) => {
    const unusable: Readonly<Record<string, readonly string[]>> = {
      order: ['', 'sideways', 'NEWEST', 'newest '],
      limit: ['', '-1', '1.5', '1e3', 'ten', '0x10', ' 5', '٣'],
      after: ['', 'abc', '-1', '1.5'],
      before: ['', 'now', '-5', '1,000'],
      since: ['', 'yesterday', '2026-13-01', '2026-02-30', '2026-01-01T25:00:00Z', '26-1-1'],
      until: ['', 'tomorrow', '2026-00-10', '2026-01-01T10:61:00Z', '2026-01-01 and more'],
    };
    for (const [name, values] of Object.entries(unusable)) {
      for (const value of values) {
        const answer = await gateway.get(query('/api/garden', [[name, value]]));
        const faults = asArray(answer.problem(400, 'invalid-parameter')['faults']);
        assert.equal(faults.length, 1, `${name}=${value}`);
        asString(asObject(faults[0])['detail']);
      }
    }
    const all = Object.entries(unusable).map(([name, [, value = '']]) => [name, value] as const);
    const answer = await gateway.get(query('/api/seeds', all));
    const faults = asArray(answer.problem(400, 'invalid-parameter')['faults']);
    assert.equal(faults.length, all.length);
    for (const [name] of all) assert.ok(JSON.stringify(faults).includes(name), name);
  }),
  check('8.2', 'unknown-names', async (gateway) => {
    const slugs = await gateway.rooms();
    const slug = uniqueName('room');
    const room = await gateway.get(query('/api/garden', [['room', slug]]));
    assert.deepEqual(room.problem(422, 'unknown-room')['known'], slugs);
    for (const kind of ['gardens', '', 'Garden']) {
      const answer = await gateway.get(query(`/api/rooms/${slugs[0]}`, [['kind', kind]]));
      const known = asArray(answer.problem(422, 'unknown-kind')['known']).map(asString);
      assert.deepEqual(known.toSorted(), KINDS.toSorted());
    }
  }),
];
