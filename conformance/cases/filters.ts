import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { check, type Case } from '../case.ts';
import { KINDS, type Entry, type Kind } from '../entry.ts';
import { contact, fresh, query, trace, type Gateway } from '../gateway.ts';
import { fields, list, text } from '../value.ts';

type Pairs = readonly (readonly [string, string | number])[];

const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);

async function found(gateway: Gateway, pairs: Pairs, path = '/api/garden'): Promise<string[]> {
  return idsOf((await gateway.list(query(path, pairs))).entries);
}

async function garden(gateway: Gateway, identity: string, more = {}): Promise<Entry> {
  return (await gateway.say('garden', trace(identity, more))).entry;
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
            contact(identity, [seeking].flat(), { ...more, seeking: [seeking].flat() }),
          ]);
        else said.push([KINDS[at % 4] ?? 'garden', trace(identity, more)]);
      }
    }
  }
  const entries = [];
  for (const [kind, body] of said) entries.push((await gateway.say(kind, body)).entry);
  return entries;
}

/** Every combination of one choice from each list. */
function combinations<T>(choices: readonly (readonly T[])[]): T[][] {
  return choices.reduce<T[][]>(
    (all, list) => all.flatMap((some) => list.map((one) => [...some, one])),
    [[]],
  );
}

export const filters: readonly Case[] = [
  check('8.2', 'order', async (gateway) => {
    const identity = fresh();
    const ids = [];
    for (let at = 0; at < 5; at += 1) ids.push((await garden(gateway, identity)).id);
    const who = ['identity', identity] as const;
    assert.deepEqual(await found(gateway, [who]), ids.toReversed());
    assert.deepEqual(await found(gateway, [who, ['order', 'newest']]), ids.toReversed());
    assert.deepEqual(await found(gateway, [who, ['order', 'oldest']]), ids);
  }),
  check('8.2', 'limit', async (gateway) => {
    const identity = fresh();
    const ids = [];
    for (let at = 0; at < 5; at += 1) ids.push((await garden(gateway, identity)).id);
    const limits = [0, 1, 4, 5, 6, '007', 1_000_000, '9007199254740993', '9'.repeat(400)];
    for (const limit of limits) {
      const pairs = [['identity', identity] as const, ['limit', limit] as const];
      const count = Math.min(5, Number(limit));
      assert.deepEqual(await found(gateway, pairs), ids.toReversed().slice(0, count));
      const oldest = await found(gateway, [...pairs, ['order', 'oldest']]);
      assert.deepEqual(oldest, ids.slice(0, count));
    }
  }),
  check('8.2', 'cursors', async (gateway) => {
    const identity = fresh();
    const said: Entry[] = [];
    for (let at = 0; at < 6; at += 1) said.push(await garden(gateway, identity));
    for (const order of ['newest', 'oldest']) {
      const sorted = order === 'newest' ? said.toReversed() : said;
      const ask = (pairs: Pairs): Promise<string[]> =>
        found(gateway, [['identity', identity], ['order', order], ...pairs]);
      for (const { seq } of said) {
        const later = sorted.filter((entry) => entry.seq > seq);
        const earlier = sorted.filter((entry) => entry.seq < seq);
        assert.deepEqual(await ask([['after', seq]]), idsOf(later));
        assert.deepEqual(await ask([['before', seq]]), idsOf(earlier));
        const both = later.filter((entry) => entry.seq < (said[4]?.seq ?? 0));
        const bounds = [['after', seq] as const, ['before', said[4]?.seq ?? 0] as const];
        assert.deepEqual(await ask(bounds), idsOf(both));
      }
      assert.equal((await ask([['after', 0]])).length, 6);
      assert.equal((await ask([['before', 0]])).length, 0);
      assert.equal((await ask([['before', Number.MAX_SAFE_INTEGER]])).length, 6);
      assert.equal((await ask([['after', Number.MAX_SAFE_INTEGER]])).length, 0);
    }
  }),
  check('8.2', 'times', async (gateway) => {
    const identity = fresh();
    const first = await garden(gateway, identity);
    let second = await garden(gateway, identity);
    while (second.timestamp === first.timestamp) {
      await pause(1);
      second = await garden(gateway, identity);
    }
    const { timestamp } = second;
    const time = Date.parse(timestamp);
    const at = (shift: number): string => new Date(time + shift).toISOString();
    const day = 86_400_000;
    const spellings = [
      timestamp,
      timestamp.replace('Z', ''),
      timestamp.replace('Z', '+00:00'),
      at(5_400_000).replace('Z', '+01:30'),
      at(-28_800_000).replace('Z', '-08:00'),
    ];
    const ask = async (...pairs: Pairs): Promise<boolean[]> => {
      const ids = await found(gateway, [['identity', identity], ...pairs]);
      return [first, second].map(({ id }) => ids.includes(id));
    };
    for (const spelled of spellings) {
      assert.deepEqual(await ask(['since', spelled]), [false, true], spelled);
      assert.deepEqual(await ask(['until', spelled]), [true, false], spelled);
      assert.deepEqual(await ask(['since', first.timestamp], ['until', spelled]), [true, false]);
    }
    const date = (shift: number): string => at(shift).slice(0, 10);
    assert.deepEqual(await ask(['since', date(-day)], ['until', date(day)]), [true, true]);
    assert.deepEqual(await ask(['since', date(day)]), [false, false]);
    assert.deepEqual(await ask(['until', date(-day)]), [false, false]);
    assert.deepEqual(await ask(['since', at(-day).slice(0, 19)]), [true, true]);
    assert.deepEqual(await ask(['since', '9999-12-31']), [false, false]);
    assert.deepEqual(await ask(['until', '0001-01-01']), [false, false]);
  }),
  check('8.2', 'filters', async (gateway) => {
    const base = fresh();
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
    const escaped = Array.from(
      Buffer.from(base),
      (byte) => `\\u${byte.toString(16).padStart(4, '0')}`,
    );
    const { entry } = await gateway.say('garden', trace('@').replace('@', escaped.join('')));
    assert.deepEqual(await found(gateway, [['identity', base]]), [entry.id, said[0]?.id]);
  }),
  check('8.2', 'combined', async (gateway) => {
    const names = [fresh('a'), fresh('b')] as const;
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
  check('8.2', 'exact-types', async (gateway) => {
    const word = fresh();
    const others = [
      { identity: [word], ai_identity: { name: word }, identityType: [word] },
      { identity: { identity: word }, seeking: { 0: word }, text: word },
      { more: { to: word, seeking: [word], identity: word }, seeking: [[word]] },
      { identity: 5, identityType: null, seeking: true, author: word },
    ];
    for (const other of others) await gateway.say('seeds', JSON.stringify(other));
    for (const name of ['identity', 'identityType', 'seeking', 'to', 'inReplyTo']) {
      assert.deepEqual(await found(gateway, [[name, word]], '/api/seeds'), [], name);
    }
    const said = [];
    for (const other of [{ identity: word }, { ai_identity: word }]) {
      said.unshift((await gateway.say('seeds', JSON.stringify(other))).entry.id);
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
        const faults = list(answer.problem(400, 'invalid-parameter')['faults']);
        assert.equal(faults.length, 1, `${name}=${value}`);
        text(fields(faults[0])['detail']);
      }
    }
    const all = Object.entries(unusable).map(([name, [, value = '']]) => [name, value] as const);
    const answer = await gateway.get(query('/api/seeds', all));
    const faults = list(answer.problem(400, 'invalid-parameter')['faults']);
    assert.equal(faults.length, all.length);
    for (const [name] of all) assert.ok(JSON.stringify(faults).includes(name), name);
  }),
  check('8.2', 'unknown-names', async (gateway) => {
    const slugs = await gateway.rooms();
    const slug = fresh('room');
    const room = await gateway.get(query('/api/garden', [['room', slug]]));
    assert.deepEqual(room.problem(422, 'unknown-room')['known'], slugs);
    for (const kind of ['gardens', '', 'Garden']) {
      const answer = await gateway.get(query(`/api/rooms/${slugs[0]}`, [['kind', kind]]));
      const known = list(answer.problem(422, 'unknown-kind')['known']).map(text);
      assert.deepEqual(known.toSorted(), KINDS.toSorted());
    }
  }),
];
