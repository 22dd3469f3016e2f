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
import { assertSameBytes, gather, type Open } from './fixtures.ts';
import { joined, Witness } from './witness.ts';

export function describeCrowds(open: Open): void {
  describe('many entries', () => describeMany(open));
  describe('many readers and writers', () => describeTogether(open));
}

function describeMany(open: Open): void {
  it('reads 10,000 entries with mixed facets as the plain list has them', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const random = randomOf(10_000);
    await sayInWaves(witness, 10_000, () => anySaying(random));
    for (const order of ['newest', 'oldest'] as const) {
      await witness.agrees({ order });
      for (let times = 0; times < 40; times++) {
        await witness.agrees({ ...anySelection(random, 10_000), order });
      }
    }
    witness.agreesOnTally();
  });

  it('reads 70,000 small entries across every boundary inside', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    await sayInWaves(witness, 70_000, (at) => ({
      kind: 'shepit',
      body: '',
      members: at % 1000 === 534 ? { to: ['few'] } : {},
    }));
    for (const order of ['newest', 'oldest'] as const) {
      await witness.agrees({ order });
      await witness.agrees({ order, facets: [facet('to', 'few')] });
      await witness.agrees({ order, facets: [facet('kind', 'shepit'), facet('to', 'few')] });
      for (const line of [1024, 4096, 8192, 16_384, 32_768, 65_536]) {
        await witness.agrees({ order, after: line - 3, before: line + 3 });
        const facets = [facet('kind', 'shepit'), facet('room', ROOMS[0])];
        await witness.agrees({ order, after: line - 2, limit: 4, facets });
        await witness.agrees({ order, before: line + 2, limit: 4, facets });
      }
    }
    await witness.agrees({ facets: [facet('kind', 'shepit')], limit: 66_000 });
    witness.agreesOnTally();
  });
}

function describeTogether(open: Open): void {
  it('lets a writer find at once what it wrote, while 20 others write', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const write = async (writer: number): Promise<void> => {
      const mine = facet('identity', `w${writer}`);
      for (let count = 1; count <= 30; count++) {
        const saying = { members: { identity: [`w${writer}`] }, body: bodyOf(count * 50, count) };
        const { seq } =
          count % 10 === 0 ? await witness.sayAtLength(saying) : await witness.say(saying);
        assert.ok(opened.log.head() >= seq);
        assert.equal((await opened.log.entry(seq))?.stamp.seq, seq);
        const { items } = await gather(opened.log.readEntries({ facets: [mine], order: 'newest' }));
        assert.deepEqual([items.length, items[0]?.stamp.seq], [count, seq]);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)));
    await witness.agreesThroughout();
  });

  it('gives every reader a log without gaps that has all that was there before', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const random = randomOf(20);
    const written = new AbortController();
    const seen: Seen[] = [];
    const read = async (): Promise<void> => {
      while (!written.signal.aborted) {
        const { facets, order } = anySelection(random, 1);
        const head = opened.log.head();
        const { items, end } = await gather(opened.log.readText({ facets, order }, '\n'));
        assert.equal(end.more, false);
        seen.push({ facets, order, head, last: end.last, bytes: Buffer.concat(items) });
        await new Promise(setImmediate);
      }
    };
    const readers = Array.from({ length: 20 }, read);
    const write = async (): Promise<void> => {
      for (let count = 0; count < 50; count++) await witness.say(anySaying(random));
    };
    await Promise.all(Array.from({ length: 20 }, write));
    written.abort();
    await Promise.all(readers);
    for (const one of seen) assertSeen(one, witness);
    await witness.agreesThroughout();
  });
}

interface Seen extends Pick<Selection, 'facets' | 'order'> {
  /** Of the log, just before the reading began. */
  readonly head: number;
  readonly last: number | undefined;
  readonly bytes: Buffer;
}

/** What was appended while the reading began may be in it: it must be that of one moment. */
function assertSeen({ facets, order, head, bytes }: Seen, witness: Witness): void {
  const { known } = witness.expect({ facets, order: 'oldest' });
  const least = known.filter(({ stamp }) => stamp.seq <= head).length;
  let count = 0;
  for (let size = -1; size < bytes.length && count < known.length; count++) {
    size += 1 + (known[count]?.text.length ?? 0);
    if (size === bytes.length) break;
  }
  const seen = bytes.length === 0 ? [] : known.slice(0, count + 1);
  assert.ok(seen.length >= least, `a reading lacks ${least - seen.length} entries`);
  assertSameBytes(bytes, joined(order === 'oldest' ? seen : seen.toReversed(), '\n'), 'read()');
}

async function sayInWaves(
  witness: Witness,
  count: number,
  sayingOf: (at: number) => DraftFields,
): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const wave = Math.min(1000, count - from);
    await witness.sayAll(Array.from({ length: wave }, (_, at) => sayingOf(from + at)));
  }
}

function anySaying(random: (bound: number) => number): DraftFields {
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
  return {
    facets: facets.slice(from, from + random(4)),
    order: random(2) === 0 ? 'newest' : 'oldest',
    ...(random(2) === 0 ? { after: random(seqs) } : {}),
    ...(random(2) === 0 ? { before: random(seqs + 2) } : {}),
    ...(random(2) === 0 ? { limit: random(300) } : {}),
  };
}
