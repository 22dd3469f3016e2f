// Files of the data folder, or all of it, are moved or removed under a running gateway.
import assert from 'node:assert/strict';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Answer } from '../../conformance/answer.ts';
import { Gateway } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger } from './ledger.ts';
import { stateOf, untilReadOnly, untilWritable } from './status.ts';

const WRITERS = 8;

/** Submits small and large entries from several callers, one after another each, until aborted. */
async function submitUntil(
  signal: AbortSignal,
  { ledger, visitor }: { ledger: Ledger; visitor: Gateway },
): Promise<void> {
  const write = async (size: number): Promise<void> => {
    while (!signal.aborted) {
      const answer = await ledger.submit(visitor, ledger.newSubmission('garden', size, true));
      if (answer.status !== 201) refused(answer);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, at) => write(at === 0 ? 200_000 : 20)));
}

async function assertRefused(ledger: Ledger, visitor: Gateway): Promise<void> {
  for (const size of [10, 200_000])
    refused(await ledger.submit(visitor, ledger.newSubmission('garden', size, true)));
}

function refused(answer: Answer): void {
  answer.problem(503, 'unavailable');
}

async function store(ledger: Ledger, visitor: Gateway): Promise<void> {
  for (const size of [10, 200_000])
    (await ledger.submit(visitor, ledger.newSubmission('garden', size, true))).expect(201);
}

/** Resolves when nothing is missing any more that was looked for while the folder was away. */
async function untilReadable(visitor: Gateway): Promise<void> {
  await until(
    async () => (await visitor.get('/api/garden')).expect(200).bytes,
    (bytes) => !bytes.includes('"unreadable":true'),
  );
}

test('a data folder moved under load has all that was acknowledged; moved back, it is stored in again', async () => {
  await using folder = await dataFolder();
  const data = join(folder.path, 'data');
  const moved = join(folder.path, 'moved');
  const ledger = new Ledger();
  {
    await using gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    for (let round = 0; round < 2; round += 1) {
      const stop = new AbortController();
      const load = submitUntil(stop.signal, { ledger, visitor });
      while (ledger.acknowledged.length < 100 * (round + 1))
        await Promise.race([load, new Promise(setImmediate)]);
      await rename(data, moved);
      await assertRefused(ledger, visitor);
      await untilReadOnly(visitor);
      stop.abort();
      await load;
      if (round > 0) break;
      // Another folder in its place is not the one that the gateway has open.
      await cp(moved, data, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      await assertRefused(ledger, visitor);
      assert.equal(await stateOf(visitor), 'holding');
      await rm(data, { recursive: true });
      await rename(moved, data);
      await untilWritable(visitor);
      await store(ledger, visitor);
      await untilReadable(visitor);
      await ledger.compare(visitor);
    }
    await gateway.kill();
  }
  await using gateway = await startGatewayProcess({ data: moved });
  using visitor = new Gateway(gateway.url);
  await untilReadable(visitor);
  await assertSound(moved, await ledger.compare(visitor));
});

test('a removed data folder: nothing is acknowledged, and the gateway says so', async () => {
  await using folder = await dataFolder();
  const data = join(folder.path, 'data');
  const ledger = new Ledger();
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  const stop = new AbortController();
  const load = submitUntil(stop.signal, { ledger, visitor });
  while (ledger.acknowledged.length < 100) await Promise.race([load, new Promise(setImmediate)]);
  await rm(data, { recursive: true, maxRetries: 10 });
  await assertRefused(ledger, visitor);
  await untilReadOnly(visitor);
  stop.abort();
  await load;
  // An upload may have made it already.
  await mkdir(data, { recursive: true });
  await assertRefused(ledger, visitor);
  assert.equal(await stateOf(visitor), 'holding');
  // What was in the folder can be read as long as it is open, or else the disk is said to fail.
  assert.ok([200, 503].includes((await visitor.get('/api/discover')).status));
  (await visitor.get('/')).expect(200);
});

test('each file of the log that is moved away stops storing until it is back', async () => {
  await using folder = await dataFolder();
  const data = folder.path;
  const ledger = new Ledger();
  {
    await using gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    const files = ['log.sqlite', 'log.sqlite-shm', 'lock.sqlite', 'large', 'large/incoming'];
    for (const file of [...files, 'log.sqlite-wal']) {
      await store(ledger, visitor);
      await rename(join(data, file), join(data, 'away'));
      await untilReadOnly(visitor);
      await assertRefused(ledger, visitor);
      await rename(join(data, 'away'), join(data, file));
      await untilWritable(visitor);
    }
    await store(ledger, visitor);
    await assertSound(data, await ledger.compare(visitor));
    await rm(join(data, 'log.sqlite-wal'));
    // By then log.sqlite has what was in the removed file.
    await untilReadOnly(visitor);
    await gateway.kill();
  }
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  await assertSound(data, await ledger.compare(visitor));
});
