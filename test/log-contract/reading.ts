/** Reading: order, cursors, limit, how a reading ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Selection } from '../../packages/gateway/src/log/log.ts';
import { bodyOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { gather, type Open, join } from './fixtures.ts';
import { Witness } from './witness.ts';

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
    const witness = await thirty(opened.log);
    for (const order of ORDERS) {
      for (const after of CURSORS) {
        for (const before of CURSORS) {
          await witness.agrees({ order, ...bounds(after, before) });
          await witness.agrees({ order, ...bounds(after, before), facets: [ODD], limit: 3 });
        }
      }
    }
  });

  it('joins entries with the joiner, and puts none before, behind or around nothing', async () => {
    await using opened = await open();
    const witness = await thirty(opened.log);
    for (const joiner of [',\n', '\n'] as const) {
      for (const limit of [0, 1, 2]) {
        const { items } = await gather(
          opened.log.readText({ facets: [], order: 'oldest', limit }, joiner),
        );
        const texts = witness.known.slice(0, limit).map(({ text }) => text.toString());
        assert.equal(Buffer.concat(items).toString(), texts.join(joiner));
      }
    }
  });
}

function describeLimit(open: Open): void {
  it('gives at most limit entries, and says whether there were more', async () => {
    await using opened = await open();
    const witness = await thirty(opened.log);
    const whole = witness.expect({}).known.length;
    const odd = witness.expect({ facets: [ODD] }).known.length;
    assert.deepEqual([whole, odd], [30, 15]);
    for (const order of ORDERS) {
      for (const limit of [0, 1, 2, odd - 1, odd, odd + 1, whole - 1, whole, whole + 1, 1e9]) {
        await witness.agrees({ order, limit });
        await witness.agrees({ order, limit, facets: [ODD] });
        await witness.agrees({ order, limit, facets: [ODD], after: 9, before: 21 });
        await witness.agrees({ order, limit, facets: [facet('to', 'nobody')] });
      }
    }
  });

  it('says the same in an empty log', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    for (const limit of [0, 1]) await witness.agrees({ limit });
    await witness.agrees({ limit: 0, facets: [ODD], order: 'oldest' });
  });

  it('can be walked page by page from end to end, in both orders', async () => {
    await using opened = await open();
    const witness = await thirty(opened.log);
    for (const order of ORDERS) {
      for (const limit of [1, 4, 15]) {
        const seqs: number[] = [];
        let cursor: Partial<Selection> = {};
        for (let more = true; more;) {
          const page = { facets: [ODD], order, limit, ...cursor };
          const { items, end } = await gather(opened.log.readEntries(page));
          seqs.push(...items.map(({ stamp }) => stamp.seq));
          assert.ok(seqs.length <= 15, 'a page repeats the one before');
          more = end.more;
          if (end.last !== undefined) {
            cursor = order === 'oldest' ? { after: end.last } : { before: end.last };
          }
        }
        const { known } = witness.expect({ facets: [ODD], order });
        assert.deepEqual(
          seqs,
          known.map(({ stamp }) => stamp.seq),
        );
      }
    }
  });
}

function describeGoingOn(open: Open): void {
  it('can be given up at any point, without harm to the log', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    await witness.sayAll(Array.from({ length: 40 }, (_, at) => ({ body: bodyOf(40_000, at) })));
    for (const steps of [0, 1, 2, 20]) {
      const reading = opened.log.readText({ facets: [], order: 'oldest' }, '\n');
      const entries = opened.log.readEntries({ facets: [], order: 'newest' });
      for (let step = 0; step < steps; step++) {
        await reading.next();
        await entries.next();
      }
      await reading.return({ last: undefined, more: false });
      await entries.return({ last: undefined, more: false });
      await witness.say();
    }
    await witness.agreesThroughout();
  });

  it('gives entries whose text can be read after the reading ended', async () => {
    await using opened = await open();
    const witness = await thirty(opened.log);
    await witness.sayAtLength({ body: bodyOf(300_000, 1) });
    const { items } = await gather(opened.log.readEntries({ facets: [], order: 'oldest' }));
    for (const [at, entry] of items.entries()) {
      const text = await join(entry.chunks());
      assert.ok(witness.known[at]?.text.equals(text));
    }
  });
}

async function thirty(log: Witness['log']): Promise<Witness> {
  const witness = new Witness(log);
  for (let seq = 1; seq <= 30; seq++) {
    await witness.say({ members: { to: [seq % 2 === 1 ? 'odd' : 'even'], identity: [`${seq}`] } });
  }
  return witness;
}

function bounds(after: number | undefined, before: number | undefined): Partial<Selection> {
  return {
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  };
}
