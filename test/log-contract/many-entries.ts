/** Many entries, many at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { KINDS } from '@open-presence/protocol';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Selection } from '../../packages/gateway/src/log/log.ts';
import {
  bodyOf,
  randomOf,
  ROOMS,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { assertSameBytes, collect, type Open } from './fixtures.ts';
import { joined, CheckedLog } from './checked-log.ts';

export function describeManyEntries(open: Open): void {
  describe('many entries', () => describeMany(open));
  describe('many readers and writers', () => describeTogether(open));
}

function describeMany(open: Open): void {
  it('reads 10,000 entries with mixed facets as the plain list has them', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const random = randomOf(10_000);
    await appendInWaves(checked, 10_000, () => randomFields(random));
    for (const order of ['newest', 'oldest'] as const) {
      await checked.check({ order });
      for (let times = 0; times < 40; times++) {
        await checked.check({ ...anySelection(random, 10_000), order });
      }
    }
    await checked.checkCounts(Array.from({ length: 101 }, (_, at) => 1 + at * 100));
    checked.checkTally();
  });

  it('reads 70,000 small entries across every boundary inside', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await appendInWaves(checked, 70_000, (at) => ({
      kind: 'shepit',
      body: '',
      members: at % 1000 === 534 ? { to: ['few'] } : {},
    }));
    for (const order of ['newest', 'oldest'] as const) {
      await checked.check({ order });
      await checked.check({ order, facets: [facet('to', 'few')] });
      await checked.check({ order, facets: [facet('kind', 'shepit'), facet('to', 'few')] });
      for (const line of [1024, 4096, 8192, 16_384, 32_768, 65_536]) {
        await checked.check({ order, after: line - 3, before: line + 3 });
        const facets = [facet('kind', 'shepit'), facet('room', ROOMS[0])];
        await checked.check({ order, after: line - 2, limit: 4, facets });
        await checked.check({ order, before: line + 2, limit: 4, facets });
      }
    }
    await checked.check({ facets: [facet('kind', 'shepit')], limit: 66_000 });
    const bounds = [1, 2, 1024, 2048, 2049, 65_535, 65_536, 65_537, 67_584, 69_000, 70_000, 70_001];
    await checked.checkCounts([...bounds, 70_001]);
    await checked.checkCounts([3, 69_999]);
    checked.checkTally();
  });
}

function describeTogether(open: Open): void {
  it('lets a writer find at once what it wrote, while 20 others write', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const write = async (writer: number): Promise<void> => {
      const mine = facet('identity', `w${writer}`);
      for (let count = 1; count <= 30; count++) {
        const fields = { members: { identity: [`w${writer}`] }, body: bodyOf(count * 50, count) };
        const { seq } =
          count % 10 === 0 ? await checked.appendSpooled(fields) : await checked.append(fields);
        assert.ok(opened.log.head() >= seq);
        assert.equal((await opened.log.entry(seq))?.metadata.seq, seq);
        const { items } = await collect(
          opened.log.readEntries({ facets: [mine], order: 'newest' }),
        );
        assert.deepEqual([items.length, items[0]?.metadata.seq], [count, seq]);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)));
    await checked.checkAll();
  });

  it('gives every reader a log without gaps that has all that was there before', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const random = randomOf(20);
    const written = new AbortController();
    const seen: Seen[] = [];
    const read = async (): Promise<void> => {
      while (!written.signal.aborted) {
        const { facets, order } = anySelection(random, 1);
        const head = opened.log.head();
        const { items, end } = await collect(opened.log.readText({ facets, order }, '\n'));
        assert.equal(end.more, false);
        seen.push({ facets, order, head, last: end.last, bytes: Buffer.concat(items) });
        await new Promise(setImmediate);
      }
    };
    const readers = Array.from({ length: 20 }, read);
    const write = async (): Promise<void> => {
      for (let count = 0; count < 50; count++) await checked.append(randomFields(random));
    };
    await Promise.all(Array.from({ length: 20 }, write));
    written.abort();
    await Promise.all(readers);
    for (const one of seen) assertSeen(one, checked);
    await checked.checkAll();
  });
}

interface Seen extends Pick<Selection, 'facets' | 'order'> {
  /** Of the log, just before the reading began. */
  readonly head: number;
  readonly last: number | undefined;
  readonly bytes: Buffer;
}

/** What was appended while the reading began may be in it: it must be that of one moment. */
function assertSeen({ facets, order, head, bytes }: Seen, checked: CheckedLog): void {
  const { entries: known } = checked.expect({ facets, order: 'oldest' });
  const least = known.filter(({ metadata }) => metadata.seq <= head).length;
  let count = 0;
  for (let size = -1; size < bytes.length && count < known.length; count++) {
    size += 1 + (known[count]?.text.length ?? 0);
    if (size === bytes.length) break;
  }
  const seen = bytes.length === 0 ? [] : known.slice(0, count + 1);
  assert.ok(seen.length >= least, `a reading lacks ${least - seen.length} entries`);
  assertSameBytes(bytes, joined(order === 'oldest' ? seen : seen.toReversed(), '\n'), 'read()');
}

async function appendInWaves(
  checked: CheckedLog,
  count: number,
  fieldsOf: (at: number) => DraftFields,
): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const wave = Math.min(1000, count - from);
    await checked.appendAll(Array.from({ length: wave }, (_, at) => fieldsOf(from + at)));
  }
}

function randomFields(random: (bound: number) => number): DraftFields {
  return {
    kind: KINDS[random(4)] ?? 'garden',
    room: ROOMS[random(3)] ?? ROOMS[0],
    members: {
      identity: [`i${random(7)}`],
      seeking: Array.from({ length: random(4) }, () => `s${random(9)}`),
      to: random(5) === 0 ? [`t${random(50)}`] : [],
    },
    ...(random(3) === 0 ? { body: bodyOf(random(3000), random(100)) } : {}),
  };
}

function anySelection(random: (bound: number) => number, seqs: number): Selection {
  const facets = [
    facet('kind', KINDS[random(4)] ?? ''),
    facet('room', ROOMS[random(3)] ?? ''),
    facet('identity', `i${random(7)}`),
    facet('seeking', `s${random(9)}`),
    facet('to', `t${random(50)}`),
  ];
  const from = random(5);
  const some = facets.slice(from, from + random(4));
  return {
    facets: random(3) === 0 && some.length > 1 ? [some, ...facets.slice(0, random(2))] : some,
    order: random(2) === 0 ? 'newest' : 'oldest',
    ...(random(2) === 0 ? { after: random(seqs) } : {}),
    ...(random(2) === 0 ? { before: random(seqs + 2) } : {}),
    ...(random(2) === 0 ? { limit: random(300) } : {}),
  };
}
