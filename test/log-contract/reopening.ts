/** What holds when a log is closed and opened again. */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import {
  bodyOf,
  cut,
  draftOf,
  fill,
  randomOf,
  ROOMS,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Reopenable } from './fixtures.ts';
import { CheckedLog } from './checked-log.ts';

type OpenReopenable = () => Promise<Reopenable>;

export function describeReopening(open: OpenReopenable): void {
  describeSameLog(open);
  describeSameKeys(open);
  describeNothingLeft(open);
}

function describeSameLog(open: OpenReopenable): void {
  it('has the same name and the same entries, byte for byte', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const { id: name } = opened.log;
    for (let round = 1; round <= 3; round++) {
      await checked.appendAll(Array.from({ length: 300 }, (_, at) => fieldsOf(at)));
      await checked.appendSpooled({ body: bodyOf(round * 1_000_000, round), members: LONG });
      await checked.appendSpooled({ body: '' });
      checked.log = await opened.reopen();
      assert.equal(checked.log.id, name);
      assert.equal(checked.log.writable(), true);
      await checked.checkAll();
      for (const order of ['newest', 'oldest'] as const) {
        await checked.check({ order, facets: [facet('identity', 'i1')], after: 10 });
        await checked.check({ order, facets: [facet('to', 'long')] });
        const facets = [facet('room', ROOMS[1]), facet('identity', 'i2')];
        await checked.check({ order, facets, limit: 5 });
      }
    }
  });

  it('is as empty as it was, under the same name', async () => {
    await using opened = await open();
    const { id: name } = opened.log;
    const checked = new CheckedLog(await opened.reopen());
    assert.equal(checked.log.id, name);
    await checked.checkAll();
    await checked.append();
    await checked.checkAll();
  });

  it('goes on with the next seq and a time not less, even if the clock was set back', async (t) => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.append();
    const now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now: now + 86_400_000 });
    const latest = await checked.append();
    t.mock.timers.reset();
    checked.log = await opened.reopen();
    for (let times = 0; times < 3; times++) {
      const { seq, time } = await checked.append();
      assert.equal(seq, latest.seq + 1 + times);
      assert.ok(time >= latest.time);
      // No index has it yet.
      await checked.check({ facets: [facet('kind', 'garden')] });
    }
    await checked.checkAll();
  });

  it('finds a large entry by each of many facets', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const seeking = Array.from({ length: 20_000 }, (_, at) => `thing ${at}`);
    const draft = draftOf({ members: { seeking }, body: '"many":true' });
    await using spool = opened.log.spool();
    await fill(spool, [draft.body]);
    checked.remember(draft, await opened.log.append({ ...draft, body: spool }));
    await checked.append();
    checked.log = await opened.reopen();
    for (let at = 0; at < 20_000; at += 501) {
      await checked.check({ facets: [facet('seeking', `thing ${at}`)] });
    }
  });
}

function describeSameKeys(open: OpenReopenable): void {
  it('knows the keys of earlier and what they stand for', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const short = { key: 'short', body: '"text":"once"' };
    const long = { key: 'long', body: bodyOf(2_000_000, 1) };
    const metadata = [await checked.append(short), await checked.appendSpooled(long)];
    for (let round = 0; round < 2; round++) {
      checked.log = await opened.reopen();
      for (const [at, fields] of [short, long].entries()) {
        const again = await checked.log.append(draftOf(fields));
        assert.equal(again.outcome, 'repeated');
        assert.deepEqual({ ...again.metadata }, { ...metadata[at] });
        const other = await checked.log.append(draftOf({ ...fields, kind: 'shepit' }));
        assert.equal(other.outcome, 'conflict');
        assert.deepEqual({ ...other.metadata }, { ...metadata[at] });
      }
      await checked.checkAll();
      await checked.append();
    }
  });
}

function describeNothingLeft(open: OpenReopenable): void {
  it('has nothing of a spool that was not appended', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.append();
    // Not disposed of: closing the log has to be enough, as after a crash.
    const spool = opened.log.spool();
    await fill(spool, cut(bodyOf(3_000_000, 1), 100_000, randomOf(1)));
    checked.log = await opened.reopen();
    await checked.appendSpooled({ body: bodyOf(1_000_000, 2) });
    await checked.checkAll();
  });
}

const LONG = { to: ['long'] };

function fieldsOf(at: number): DraftFields {
  return {
    room: ROOMS[at % 3] ?? ROOMS[0],
    members: { identity: [`i${at % 5}`], seeking: [`s${at % 11}`] },
    ...(at % 4 === 0 ? { body: bodyOf(at * 20, at) } : {}),
    ...(at % 6 === 0 ? { kind: 'seeds', body: '' } : {}),
  };
}
