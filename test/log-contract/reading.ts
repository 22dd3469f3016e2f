/** Reading: order, cursors, limit, how a reading ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Selection } from '../../packages/gateway/src/log/log.ts';
import { bodyOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { collect, type Open, join } from './fixtures.ts';
import { CheckedLog } from './checked-log.ts';

const ORDERS = ['newest', 'oldest'] as const;
const CURSORS = [undefined, 0, 1, 2, 7, 15, 29, 30, 31, 1000, Number.MAX_SAFE_INTEGER];
const ODD = facet('to', 'odd');

export function describeReading(open: Open): void {
  describe('reading', () => {
    describeCursors(open);
    describeLimit(open);
    describeGoingOn(open);
  });
}

function describeCursors(open: Open): void {
  it('takes only what is later than after and earlier than before', async () => {
    await using opened = await open();
    const checked = await thirty(opened.log);
    for (const order of ORDERS) {
      for (const after of CURSORS) {
        for (const before of CURSORS) {
          await checked.check({ order, ...bounds(after, before) });
          await checked.check({ order, ...bounds(after, before), facets: [ODD], limit: 3 });
        }
      }
    }
  });

  it('joins entries with the joiner, and puts none before, after or around nothing', async () => {
    await using opened = await open();
    const checked = await thirty(opened.log);
    for (const joiner of [',\n', '\n'] as const) {
      for (const limit of [0, 1, 2]) {
        const { items } = await collect(
          opened.log.readText({ facets: [], order: 'oldest', limit }, joiner),
        );
        const texts = checked.entries.slice(0, limit).map(({ text }) => text.toString());
        assert.equal(Buffer.concat(items).toString(), texts.join(joiner));
      }
    }
  });
}

function describeLimit(open: Open): void {
  it('gives at most limit entries, and says whether there were more', async () => {
    await using opened = await open();
    const checked = await thirty(opened.log);
    const whole = checked.expect({}).entries.length;
    const odd = checked.expect({ facets: [ODD] }).entries.length;
    assert.deepEqual([whole, odd], [30, 15]);
    for (const order of ORDERS) {
      for (const limit of [0, 1, 2, odd - 1, odd, odd + 1, whole - 1, whole, whole + 1, 1e9]) {
        await checked.check({ order, limit });
        await checked.check({ order, limit, facets: [ODD] });
        await checked.check({ order, limit, facets: [ODD], after: 9, before: 21 });
        await checked.check({ order, limit, facets: [facet('to', 'nobody')] });
      }
    }
  });

  it('says the same in an empty log', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    for (const limit of [0, 1]) await checked.check({ limit });
    await checked.check({ limit: 0, facets: [ODD], order: 'oldest' });
  });

  it('can be walked page by page from end to end, in both orders', async () => {
    await using opened = await open();
    const checked = await thirty(opened.log);
    for (const order of ORDERS) {
      for (const limit of [1, 4, 15]) {
        const seqs: number[] = [];
        let cursor: Partial<Selection> = {};
        for (let more = true; more;) {
          const page = { facets: [ODD], order, limit, ...cursor };
          const { items, end } = await collect(opened.log.readEntries(page));
          seqs.push(...items.map(({ metadata }) => metadata.seq));
          assert.ok(seqs.length <= 15, 'a page repeats the one before');
          more = end.more;
          if (end.last !== undefined) {
            cursor = order === 'oldest' ? { after: end.last } : { before: end.last };
          }
        }
        const { entries: known } = checked.expect({ facets: [ODD], order });
        assert.deepEqual(
          seqs,
          known.map(({ metadata }) => metadata.seq),
        );
      }
    }
  });
}

function describeGoingOn(open: Open): void {
  it('can be given up at any point, without harm to the log', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(Array.from({ length: 40 }, (_, at) => ({ body: bodyOf(40_000, at) })));
    for (const steps of [0, 1, 2, 20]) {
      const reading = opened.log.readText({ facets: [], order: 'oldest' }, '\n');
      const entries = opened.log.readEntries({ facets: [], order: 'newest' });
      for (let step = 0; step < steps; step++) {
        await reading.next();
        await entries.next();
      }
      await reading.return({ last: undefined, more: false });
      await entries.return({ last: undefined, more: false });
      await checked.append();
    }
    await checked.checkAll();
  });

  it('gives entries whose text can be read after the reading ended', async () => {
    await using opened = await open();
    const checked = await thirty(opened.log);
    await checked.appendSpooled({ body: bodyOf(300_000, 1) });
    const { items } = await collect(opened.log.readEntries({ facets: [], order: 'oldest' }));
    for (const [at, entry] of items.entries()) {
      const text = await join(entry.chunks());
      assert.ok(checked.entries[at]?.text.equals(text));
    }
  });
}

async function thirty(log: CheckedLog['log']): Promise<CheckedLog> {
  const checked = new CheckedLog(log);
  for (let seq = 1; seq <= 30; seq++) {
    await checked.append({
      members: { to: [seq % 2 === 1 ? 'odd' : 'even'], identity: [`${seq}`] },
    });
  }
  return checked;
}

function bounds(after: number | undefined, before: number | undefined): Partial<Selection> {
  return {
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  };
}
