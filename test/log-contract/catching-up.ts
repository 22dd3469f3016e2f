import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { draftOf, metadataOf } from '../../packages/gateway/src/log/log.fixture.ts';
import type { Open } from './fixtures.ts';

export function describeCatchingUp(open: Open): void {
  describe('caughtUp()', () => {
    it('resolves in an empty log', async () => {
      await using opened = await open();
      await opened.log.caughtUp();
      assert.equal(opened.log.head(), 0);
    });

    it('has what others have acknowledged in reads that start then', async () => {
      await using opened = await open();
      const { log } = opened;
      const reader = (await opened.another?.()) ?? log;
      for (let at = 0; at < 20; at += 1) {
        const results = await Promise.all([log.append(draftOf()), log.append(draftOf())]);
        const seqs = results.map((result) => metadataOf(result).seq);
        await Promise.all(
          seqs.map(async (seq) => {
            await reader.caughtUp();
            assert.ok(reader.head() >= seq, `the head is ${reader.head()}, not ${seq}`);
            assert.equal((await reader.entry(seq))?.metadata.seq, seq);
          }),
        );
      }
    });
  });
}
