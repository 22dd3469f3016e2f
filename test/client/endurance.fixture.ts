// Writers and a follower at a gateway that is killed again and again, behind a proxy that cuts
// connections at random bytes. By hand, with more of it: node test/client/endurance.fixture.ts 10000
import assert from 'node:assert/strict';

import { Gateway, PresenceError } from '@open-presence/client';

import { dataFolder } from '../gateway-process.ts';
import { CuttingProxy, KilledGateway } from './unreliable-gateway.ts';

const WRITERS = 8;

/**
 * Resolves with the number of cuts once `count` entries are stored and followed, and each of them is
 * there exactly once. The gateway is killed `kills` times meanwhile.
 */
export async function endure(count: number, kills: number): Promise<number> {
  await using folder = await dataFolder();
  await using proxy = new CuttingProxy(20_000);
  await using served = new KilledGateway(folder.path, proxy);
  await served.start();
  const stop = new AbortController();
  const { signal } = stop;
  try {
    const address = await proxy.listen();
    const followed: number[] = [];
    const follow = async (): Promise<void> => {
      let killed = 0;
      for await (const entry of new Gateway(address).follow({ after: 0, limit: count, signal })) {
        followed.push(entry['n'] as number);
        if (followed.length < ((killed + 1) * count) / (kills + 1)) continue;
        killed += 1;
        if (killed <= kills) await served.restart();
      }
    };
    const gateway = new Gateway(address);
    await Promise.all([follow(), write(gateway, count, signal)]);
    const listed = await list(gateway);
    assert.deepEqual(followed, listed, 'the follower has the order of the log');
    const expected = Array.from({ length: count }, (_, index) => index);
    assert.deepEqual(
      listed.toSorted((a, b) => a - b),
      expected,
      'each entry once',
    );
    return proxy.cuts;
  } finally {
    stop.abort();
  }
}

/** Half of them one by one from several writers, the other half in batches. */
async function write(gateway: Gateway, count: number, signal: AbortSignal): Promise<void> {
  const half = Math.floor(count / 2);
  let next = 0;
  const single = async (): Promise<void> => {
    while (next < half) await gateway.plantSeed({ n: next++, text: 'x'.repeat(200) }, { signal });
  };
  const many = async (): Promise<void> => {
    const rest = Array.from({ length: count - half }, (_, index) => ({ n: half + index }));
    // No more than what one connection may carry.
    while (rest.length > 0)
      for await (const result of gateway.sayMany('seeds', rest.splice(0, 50), { signal }))
        assert.ok('entry' in result);
  };
  await Promise.all([...Array.from({ length: WRITERS }, single), many()]);
}

/** Lists all entries. Goes on where a connection was cut. */
async function list(gateway: Gateway): Promise<number[]> {
  const listed: number[] = [];
  for (let after = 0; ;) {
    try {
      for await (const entry of gateway.entries({ order: 'oldest', after }))
        listed.push(entry['n'] as number);
      return listed;
    } catch (error) {
      if (!(error instanceof PresenceError) || !error.isTemporary) throw error;
      after = error.cursor?.after ?? after;
    }
  }
}

if (import.meta.main) console.log(await endure(Number(process.argv[2] ?? 10_000), 20), 'cuts');
