/** Counting entries between seqs, and finding the seq of a time. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

import { KINDS } from '@open-presence/protocol';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import { randomOf, ROOMS } from '../../packages/gateway/src/log/log.fixture.ts';
import { CheckedLog } from './checked-log.ts';
import type { Open } from './fixtures.ts';

export function describeCounting(open: Open): void {
  describe('counting', () => {
    it('counts the entries of each kind and room between any seqs, also the newest', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      const random = randomOf(5);
      await checked.checkCounts([1, 1]);
      for (let seq = 1; seq <= 300; seq += 1) {
        await checked.append({
          kind: KINDS[random(4)] ?? 'garden',
          room: ROOMS[random(3)] ?? ROOMS[0],
        });
        if (seq % 50 === 0) {
          const between = Array.from({ length: 8 }, () => 1 + random(seq + 1));
          await checked.checkCounts([1, ...between.toSorted((a, b) => a - b), seq + 1]);
        }
      }
    });

    it('ends when it is aborted', async () => {
      await using opened = await open();
      await new CheckedLog(opened.log).append();
      const counted = opened.log.countBetween(facet('kind', 'garden'), [1, 2], AbortSignal.abort());
      await assert.rejects(counted, { name: 'AbortError' });
    });

    it('finds the first entry of a time', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      assert.equal(opened.log.firstSince(0), 1);
      for (let count = 0; count < 4; count += 1) {
        await checked.append();
        await checked.append();
        await sleep(3);
      }
      for (const { metadata } of checked.entries) {
        const first = checked.entries.find((other) => other.metadata.time >= metadata.time);
        assert.equal(opened.log.firstSince(metadata.time), first?.metadata.seq);
        const next = checked.entries.find((other) => other.metadata.time > metadata.time);
        assert.equal(opened.log.firstSince(metadata.time + 0.5), next?.metadata.seq ?? 9);
      }
      assert.equal(opened.log.firstSince(0), 1);
    });
  });
}
