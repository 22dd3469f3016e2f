import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { check, type Case } from '../case.ts';
import type { Entry } from '../entry.ts';
import { uniqueName } from '../gateway.ts';
import { asInteger, asString } from '../value.ts';
import { found, garden, idsOf, type Pairs } from './filters.ts';

export const bounds: readonly Case[] = [
  check('8.2', 'order', async (gateway) => {
    const identity = uniqueName();
    const ids = [];
    for (let at = 0; at < 5; at += 1) ids.push((await garden(gateway, identity)).id);
    const who = ['identity', identity] as const;
    assert.deepEqual(await found(gateway, [who]), ids.toReversed());
    assert.deepEqual(await found(gateway, [who, ['order', 'newest']]), ids.toReversed());
    assert.deepEqual(await found(gateway, [who, ['order', 'oldest']]), ids);
  }),
  check('8.2', 'limit', async (gateway) => {
    const identity = uniqueName();
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
    const identity = uniqueName();
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
    }
  }),
  check('8.2', 'foreign-cursor', async (gateway) => {
    const { head, log } = await gateway.list('/api/entries?limit=0');
    const beyond = head + 1_000_000;
    for (const place of [
      ...['/api/entries', '/api/garden', '/api/garden.atom', '/feed.json'].map(
        (path) => `${path}?`,
      ),
      '/api/garden?wait=30&',
      '/api/search?q=garden&',
    ]) {
      for (const accept of ['application/json', 'application/x-ndjson', 'application/atom+xml']) {
        const answer = await gateway.get(`${place}after=${beyond}`, { accept });
        const problem = answer.problem(400, 'invalid-parameter');
        assert.ok(asInteger(problem['head']) >= head, place);
        assert.equal(problem['log'], log);
      }
    }
    const sent = '9'.repeat(23);
    const long = await gateway.get(`/api/garden?after=${sent}`);
    assert.ok(asString(long.problem(400, 'invalid-parameter')['detail']).includes(sent));
    const mine = `identity=${uniqueName()}`;
    const { next } = await gateway.list(`/api/entries?${mine}&after=${head}&order=oldest`);
    assert.equal((await gateway.list(asString(next))).entries.length, 0);
  }),
  check('8.2', 'times', async (gateway) => {
    const identity = uniqueName();
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
  check(
    '8.2',
    'times',
    async (gateway) => {
      const identity = uniqueName();
      const said: Entry[] = [];
      for (let count = 0; count < 20; count += 1) {
        said.push(await garden(gateway, identity));
        await pause(count % 3);
      }
      const who = ['identity', identity] as const;
      for (const { timestamp } of said) {
        const later = said.filter((entry) => entry.timestamp >= timestamp);
        const earlier = said.filter((entry) => entry.timestamp < timestamp);
        const oldest = ['order', 'oldest'] as const;
        assert.deepEqual(await found(gateway, [who, oldest, ['since', timestamp]]), idsOf(later));
        assert.deepEqual(await found(gateway, [who, oldest, ['until', timestamp]]), idsOf(earlier));
      }
    },
    'at every instant',
  ),
];
