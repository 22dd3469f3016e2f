import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { draftOf, metadataOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open } from './fixtures.ts';

/** Resolves when the head of a log is at least `seq`, by being called back alone. */
function reached(
  log: Awaited<ReturnType<Open>>['log'],
  seq: number,
): { promise: Promise<void>; calls: () => number } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const watching = log.watch(() => {
    calls += 1;
    if (log.head() < seq) return;
    watching[Symbol.dispose]();
    resolve();
  });
  return { promise, calls: () => calls };
}

export function describeWatching(open: Open): void {
  describe('watch()', () => {
    it('calls everybody back after the head has moved', async () => {
      await using opened = await open();
      const { log } = opened;
      const watching = [reached(log, 1), reached(log, 2), reached(log, 2)];
      assert.equal(metadataOf(await log.append(draftOf())).seq, 1);
      await watching[0]?.promise;
      await log.append(draftOf());
      for (const { promise } of watching) await promise;
      assert.ok(watching.every(({ calls }) => calls() <= 2));
    });

    it('misses none of many', async () => {
      await using opened = await open();
      const { log } = opened;
      const { promise, calls } = reached(log, 500);
      for (let at = 0; at < 50; at++) {
        await Promise.all(Array.from({ length: 10 }, () => log.append(draftOf())));
      }
      await promise;
      assert.ok(calls() <= 500);
    });

    it('calls nobody back who has disposed of it', async () => {
      await using opened = await open();
      const { log } = opened;
      const called: string[] = [];
      const gone = log.watch(() => void called.push('gone'));
      const stays = log.watch(() => void called.push('stays'));
      gone[Symbol.dispose]();
      const { promise } = reached(log, 1);
      await log.append(draftOf());
      await promise;
      assert.deepEqual(new Set(called), new Set(['stays']));
      stays[Symbol.dispose]();
    });
  });
}
