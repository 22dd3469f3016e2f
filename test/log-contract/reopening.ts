/** What holds when a log is closed and opened again. */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import { assertAnything } from './anything.ts';
import {
  bodyOf,
  cut,
  draftOf,
  fill,
  mark,
  randomOf,
  ROOMS,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Reopenable } from './fixtures.ts';
import { Witness } from './witness.ts';

type OpenReopenable = () => Promise<Reopenable>;

export function describeReopening(open: OpenReopenable): void {
  describeSameLog(open);
  describeSameKeys(open);
  describeNothingLeft(open);
  it('does as the plain list does, whatever is asked and however often it is reopened', () =>
    assertAnything(open, 40));
}

function describeSameLog(open: OpenReopenable): void {
  it('has the same name and the same entries, byte for byte', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const { id: name } = opened.log;
    for (let round = 1; round <= 3; round++) {
      await witness.sayAll(Array.from({ length: 300 }, (_, at) => sayingOf(at)));
      await witness.sayAtLength({ body: bodyOf(round * 1_000_000, round), members: LONG });
      await witness.sayAtLength({ body: '' });
      witness.log = await opened.reopen();
      assert.equal(witness.log.id, name);
      assert.equal(witness.log.writable(), true);
      await witness.agreesThroughout();
      for (const order of ['newest', 'oldest'] as const) {
        await witness.agrees({ order, facets: [facet('identity', 'i1')], after: 10 });
        await witness.agrees({ order, facets: [facet('to', 'long')] });
        const facets = [facet('room', ROOMS[1]), facet('identity', 'i2')];
        await witness.agrees({ order, facets, limit: 5 });
      }
    }
  });

  it('is as empty as it was, under the same name', async () => {
    await using opened = await open();
    const { id: name } = opened.log;
    const witness = new Witness(await opened.reopen());
    assert.equal(witness.log.id, name);
    await witness.agreesThroughout();
    await witness.say();
    await witness.agreesThroughout();
  });

  it('goes on with the next seq and a time not less, even if the clock was set back', async (t) => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    await witness.say();
    const now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now: now + 86_400_000 });
    const latest = await witness.say();
    t.mock.timers.reset();
    witness.log = await opened.reopen();
    for (let times = 0; times < 3; times++) {
      const { seq, time } = await witness.say();
      assert.equal(seq, latest.seq + 1 + times);
      assert.ok(time >= latest.time);
    }
    await witness.agreesThroughout();
  });

  it('finds its entry by each of many facets that came through a spool', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const seeking = Array.from({ length: 20_000 }, (_, at) => `thing ${at}`);
    const draft = draftOf({ members: { seeking }, body: '"many":true' });
    await using spool = opened.log.spool();
    await mark(spool, 'seeking', seeking);
    await fill(spool, [draft.body]);
    const own = draftOf().facets;
    witness.remember(draft, await opened.log.append({ ...draft, facets: own, body: spool }));
    await witness.say();
    witness.log = await opened.reopen();
    for (let at = 0; at < 20_000; at += 501) {
      await witness.agrees({ facets: [facet('seeking', `thing ${at}`)] });
    }
  });
}

function describeSameKeys(open: OpenReopenable): void {
  it('knows the keys of earlier and what they stand for', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const short = { key: 'short', body: '"text":"once"' };
    const long = { key: 'long', body: bodyOf(2_000_000, 1) };
    const stamps = [await witness.say(short), await witness.sayAtLength(long)];
    for (let round = 0; round < 2; round++) {
      witness.log = await opened.reopen();
      for (const [at, saying] of [short, long].entries()) {
        const again = await witness.log.append(draftOf(saying));
        assert.equal(again.outcome, 'repeated');
        assert.deepEqual({ ...again.stamp }, { ...stamps[at] });
        const other = await witness.log.append(draftOf({ ...saying, kind: 'shepit' }));
        assert.equal(other.outcome, 'conflict');
        assert.deepEqual({ ...other.stamp }, { ...stamps[at] });
      }
      await witness.agreesThroughout();
      await witness.say();
    }
  });
}

function describeNothingLeft(open: OpenReopenable): void {
  it('has nothing of a spool that was not appended', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    await witness.say();
    // Not disposed of: closing the log has to be enough, as after a crash.
    const spool = opened.log.spool();
    await fill(spool, cut(bodyOf(3_000_000, 1), 100_000, randomOf(1)));
    await mark(spool, 'to', ['nobody']);
    witness.log = await opened.reopen();
    await witness.sayAtLength({ body: bodyOf(1_000_000, 2) });
    await witness.agrees({ facets: [facet('to', 'nobody')] });
    await witness.agreesThroughout();
  });
}

const LONG = { to: ['long'] };

function sayingOf(at: number): DraftFields {
  return {
    room: ROOMS[at % 3] ?? ROOMS[0],
    members: { identity: [`i${at % 5}`], seeking: [`s${at % 11}`] },
    ...(at % 4 === 0 ? { body: bodyOf(at * 20, at) } : {}),
    ...(at % 6 === 0 ? { kind: 'seeds', body: '' } : {}),
  };
}
