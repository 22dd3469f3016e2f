/** Finding by facets and by time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { FILTER_NAMES, KINDS } from '@open-presence/protocol';

import { facet, type Facet } from '../../packages/gateway/src/log/facet.ts';
import { ROOMS, type DraftFields } from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open } from './fixtures.ts';
import { CheckedLog, sharedLog } from './checked-log.ts';

export function describeFiltering(open: Open): void {
  describe('finding by facets', () => {
    describeFacets(open);
    describeIntersections(open);
  });
  describe('finding by time', () => describeTimes(open));
}

function describeFacets(open: Open): void {
  const shared = sharedLog(open);
  for (const name of FILTER_NAMES) {
    it(`finds an entry by its ${name} as soon as it is appended`, async () => {
      const checked = shared();
      for (let at = 0; at < 20; at++) {
        const value = `${name} ${at % 3}`;
        await checked.append({ members: { [name]: [value] } });
        await checked.check({ facets: [facet(name, value)] });
        await checked.append();
      }
      for (const other of FILTER_NAMES)
        await checked.check({ facets: [facet(other, `${name} 1`)] });
    });
  }

  it('finds an entry by its kind and by its room as soon as it is appended', async () => {
    const checked = shared();
    for (const kind of KINDS) {
      for (const room of ROOMS) {
        await checked.append({ kind, room });
        await checked.check({ facets: [facet('kind', kind)] });
        await checked.check({ facets: [facet('room', room)] });
        await checked.check({ facets: [facet('room', room), facet('kind', kind)] });
      }
    }
  });

  it('finds an entry by each of the things it seeks', async () => {
    const checked = shared();
    const sought = ['тиша', '', 'friends', 'x'.repeat(100_000), 'a\0b', '漢字', 'Friends'];
    await checked.append({ kind: 'resonance', members: { seeking: sought } });
    await checked.append({ kind: 'resonance', members: { seeking: sought.slice(0, 2) } });
    await checked.append({ kind: 'resonance', members: { seeking: [] } });
    for (const value of [...sought, 'nobody seeks this', 'x'.repeat(100_001)]) {
      await checked.check({ facets: [facet('seeking', value)] });
    }
  });

  it('gives an entry once that has a facet twice', async () => {
    const checked = shared();
    await checked.append({ members: { seeking: ['a', 'a', 'b', 'a'] } });
    await checked.check({ facets: [facet('seeking', 'a')] });
    await checked.check({ facets: [facet('seeking', 'a'), facet('seeking', 'b')], limit: 1 });
  });

  it('finds what has each of very many facets, given in one condition', async () => {
    const checked = shared();
    const to = Array.from({ length: 2000 }, (_, at) => `reader ${at}`);
    const joined = Buffer.concat(to.map((name) => facet('to', name)));
    for (const names of [to.slice(1), to, to.slice(0, 5), to, to.slice(0, -1)])
      await checked.append({ members: { to: names } });
    for (const order of ['newest', 'oldest'] as const) {
      await checked.check({ facets: [joined], order });
      await checked.check({ facets: [facet('kind', 'garden'), joined], order, limit: 1 });
      await checked.check({ facets: [joined, facet('to', 'nobody')], order });
    }
  });

  it('finds nothing by a facet that no entry has', async () => {
    const checked = shared();
    await checked.appendAll([{}, {}, {}]);
    await checked.check({ facets: [new Uint8Array(16)] });
    await checked.check({ facets: [new Uint8Array(16).fill(0xff)], limit: 0 });
    await checked.check({ facets: [facet('kind', 'garden'), facet('to', 'nobody')] });
  });
}

function describeIntersections(open: Open): void {
  it('finds what has all of two and of three facets, in both orders', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(Array.from({ length: 400 }, (_, at) => mixed(at)));
    const facets = mixedFacets();
    for (const [one, first] of facets.entries()) {
      for (const [two, second] of facets.slice(one).entries()) {
        const order = (one + two) % 2 === 0 ? 'newest' : 'oldest';
        await checked.check({ facets: [first, second], order });
        const third = facets[(one * 7 + two * 3) % facets.length] ?? first;
        await checked.check({ facets: [second, third, first], order, limit: (one + two) % 9 });
      }
    }
    await checked.check({ facets });
  });

  it('finds entries that have any of several facets', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(Array.from({ length: 400 }, (_, at) => mixed(at)));
    const facets = mixedFacets();
    for (const [at, first] of facets.entries()) {
      const any = [first, ...facets.slice(at + 1, at + 3), facet('identity', 'nobody')];
      const other = facets[(at * 5) % facets.length] ?? first;
      for (const order of ['newest', 'oldest'] as const) {
        await checked.check({ facets: [any], order });
        await checked.check({ facets: [any, other], order, limit: at % 9 });
        await checked.check({ facets: [other, any, facets.slice(at)], order, after: 90 });
      }
    }
    await checked.check({ facets: [[facet('identity', 'nobody'), facet('to', 'nobody')]] });
  });

  it('finds what is rare together with what is common', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(
      Array.from({ length: 3000 }, (_, at) => ({
        members: { to: ['everyone'], identity: [at % 1000 === 500 ? 'rare' : 'common'] },
      })),
    );
    const [everyone, rare, common] = [
      facet('to', 'everyone'),
      facet('identity', 'rare'),
      facet('identity', 'common'),
    ];
    for (const order of ['newest', 'oldest'] as const) {
      await checked.check({ order, facets: [everyone, rare] });
      await checked.check({ order, facets: [rare, everyone, facet('kind', 'garden')], limit: 2 });
      await checked.check({ order, facets: [common, everyone], after: 1500, limit: 10 });
      await checked.check({ order, facets: [common, rare] });
      await checked.check({ order, facets: [common, everyone, common] });
    }
  });
}

function describeTimes(open: Open): void {
  const shared = sharedLog(open);
  it('takes since inclusively and until exclusively, also among equal timestamps', async () => {
    const checked = shared();
    for (let wave = 0; wave < 5; wave++) {
      await checked.appendAll(Array.from({ length: 60 }, (_, at) => mixed(at)));
      await delay(3);
    }
    const times = [...new Set(checked.entries.map(({ metadata }) => metadata.time))];
    const bounds = times.flatMap((time) => [time - 1, time, time + 1]);
    for (const [at, since] of bounds.entries()) {
      const until = bounds[(at * 5) % bounds.length] ?? since;
      const order = at % 2 === 0 ? 'newest' : 'oldest';
      await checked.check({ order, since });
      await checked.check({ order, until: since });
      await checked.check({ order, since, until, limit: 7 });
      await checked.check({ order, since, facets: [facet('identity', 'i1')], before: 200 });
    }
  });

  it('finds nothing between equal bounds, and all between bounds far away', async () => {
    const checked = shared();
    await checked.appendAll([{}, {}, {}]);
    const time = checked.entries[0]?.metadata.time ?? assert.fail();
    await checked.check({ since: time, until: time });
    await checked.check({ since: time + 1, until: time });
    await checked.check({ since: -62_135_596_800_000, until: 8_640_000_000_000_000 });
    await checked.check({ since: 8_640_000_000_000_000 });
    await checked.check({ until: -1 });
  });
}

/** Something of everything, different for every place in the list. */
function mixed(at: number): DraftFields {
  return {
    kind: KINDS[at % 4] ?? 'garden',
    room: ROOMS[at % 3] ?? ROOMS[0],
    members: {
      identity: [`i${at % 5}`],
      identityType: [at % 2 === 0 ? 'human' : 'ai_entity'],
      seeking: at % 7 === 0 ? [] : [`s${at % 7}`, `s${at % 11}`],
      to: at % 3 === 0 ? ['t0', 't1'] : [],
    },
  };
}

function mixedFacets(): Facet[] {
  return [
    facet('kind', 'garden'),
    facet('kind', 'shepit'),
    facet('room', ROOMS[1]),
    facet('identity', 'i1'),
    facet('identity', 'i4'),
    facet('identityType', 'human'),
    facet('seeking', 's1'),
    facet('seeking', 's3'),
    facet('seeking', 's10'),
    facet('to', 't0'),
    facet('to', 't1'),
  ];
}
