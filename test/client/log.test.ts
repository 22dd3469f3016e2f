// The log of a real gateway, read and verified by the client.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { type Checkpoint, Gateway, isShortened, type LoggedEntry } from '@open-presence/client';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { errorOf } from './error-of.ts';

async function readAll(
  log: AsyncGenerator<LoggedEntry, Checkpoint>,
): Promise<{ items: LoggedEntry[]; end: Checkpoint }> {
  const items: LoggedEntry[] = [];
  for (let step = await log.next(); ; step = await log.next()) {
    if (step.done === true) return { items, end: step.value };
    items.push(step.value);
  }
}

suite('the log of a gateway', () => {
  test('has every entry, and ends at its checkpoint', async () => {
    await using served = await startGatewayProcess();
    const gateway = new Gateway(served.url, { identity: 'Lumen', longest: 1_000_000 });
    const texts = ['тиша', 'large '.repeat(50_000), 'small', 'huge '.repeat(400_000)];
    for (const text of texts) await gateway.leaveTrace(text);
    const { items, end } = await readAll(gateway.log());
    assert.deepEqual(
      items.map(({ entry }) => (isShortened(entry) ? 'shortened' : entry['text'])),
      [...texts.slice(0, 3), 'shortened'],
    );
    assert.deepEqual(end, await gateway.checkpoint());
    assert.equal(items.at(-1)?.link, end.link);
    assert.ok(items.every(({ key }) => key !== undefined));
    assert.deepEqual((await gateway.discover()).checkpoint, end);
    const { items: last } = await readAll(gateway.log({ after: 1, limit: 2 }));
    assert.deepEqual(
      last.map(({ entry }) => entry.seq),
      [2, 3],
    );
  });

  test('is followed over restarts, each entry once, from a checkpoint that was kept', async () => {
    await using folder = await dataFolder();
    let served = await startGatewayProcess({ data: folder.path });
    const port = new URL(served.url).port;
    const gateway = new Gateway(served.url);
    await gateway.whisper('before');
    const from = await gateway.checkpoint();
    const seen: unknown[] = [];
    const end = new AbortController();
    const following = (async () => {
      const log = gateway.log({ from, live: true, signal: end.signal });
      for await (const { entry } of log) seen.push(entry['text']);
    })();
    const said: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 5; at += 1) {
        said.push(`${round} ${at}`);
        await gateway.whisper(`${round} ${at}`);
      }
      await served.kill();
      served = await startGatewayProcess({ data: folder.path, args: ['--port', port] });
    }
    await gateway.whisper('last');
    while (!seen.includes('last')) await new Promise((resolve) => setTimeout(resolve, 20));
    end.abort();
    await following.catch(() => {});
    assert.deepEqual(seen, [...said, 'last']);
    await served.stop();
  });

  test('that is not the one of a checkpoint is told from it', async () => {
    await using served = await startGatewayProcess();
    const gateway = new Gateway(served.url);
    await gateway.whisper('one');
    const kept = await gateway.checkpoint();
    const link = kept.link.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    const rewritten = await errorOf(readAll(gateway.log({ from: { ...kept, link } })));
    assert.deepEqual([rewritten.code, rewritten.seq], ['broken-chain', 1]);
    const shorter = await errorOf(readAll(gateway.log({ from: { ...kept, head: 5 } })));
    assert.deepEqual([shorter.code, shorter.seq], ['broken-chain', 2]);
    for (const head of [1, 5]) {
      const other = await errorOf(readAll(gateway.log({ from: { ...kept, head, log: 'x' } })));
      assert.equal(other.code, 'other-log');
    }
  });
});
