/** Agents where nothing can be stored: a full disk, and flushes that fail. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { Gateway } from '../../conformance/gateway.ts';
import { asObject, asArray, type JsonObject } from '../../conformance/value.ts';
import { MIB, smallDisk } from '../crash/disk.ts';
import { untilFull, untilWritable } from '../crash/status.ts';
import { injectIntoFlushes } from '../crash/strace.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { objectAt } from '../requests.ts';

/** The answer to `SendMessage`. */
async function send(url: string, params: JsonObject): Promise<JsonObject> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendMessage', params });
  return await objectAt(`${url}/a2a`, { method: 'POST', body });
}

function saying(words: readonly string[], idempotencyKey = randomUUID()): JsonObject {
  const parts = words.map((text) => ({ data: { text } }));
  const metadata = { kind: 'seeds', idempotencyKey };
  return { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, metadata } };
}

/** Says what is wrong, and that trying again may help. */
async function assertRefused(url: string, code: string): Promise<void> {
  const { id, error } = await send(url, saying(['x']));
  assert.equal(id, 7);
  assert.equal(asObject(error)['code'], -32_603);
  const [info] = asArray(asObject(error)['data']).map(asObject);
  assert.equal(asObject(info?.['metadata'])['code'], code);
}

async function assertReadable(url: string): Promise<void> {
  const parts = [{ data: { skill: 'read', limit: 1 } }];
  assert.ok(isKept(await send(url, { message: { messageId: 'm', role: 'ROLE_USER', parts } })));
}

function isKept({ result }: JsonObject): boolean {
  return result !== undefined && 'message' in asObject(result);
}

test(
  'an agent is told that the disk is full, reads on, and is kept when it is not',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(24 * MIB);
    await using gateway = await startGatewayProcess({ data: disk.data });
    const { url } = gateway;
    using visitor = new Gateway(url);
    assert.ok(isKept(await send(url, saying(['before']))));
    await disk.fill();
    for (const size of [200_000, 20_000, 1]) {
      for (let refusals = 0; refusals < 3;) {
        if (!isKept(await send(url, saying(['x'.repeat(size)])))) refusals += 1;
      }
    }
    await untilFull(disk, visitor);
    await assertRefused(url, 'out-of-space');
    await assertReadable(url);
    const lost = saying(['one', 'two', 'three']);
    assert.ok(!isKept(await send(url, lost)));
    await disk.free();
    await untilWritable(visitor);
    for (let count = 0; count < 2; count += 1) assert.ok(isKept(await send(url, lost)));
    const seeds = asObject((await visitor.get('/api/seeds?limit=4')).json);
    const texts = asArray(seeds['entries']).map((entry) => asObject(entry)['text']);
    assert.deepEqual(texts.slice(0, 3), ['three', 'two', 'one']);
    assert.notEqual(texts[3], 'three');
  },
);

test(
  'an agent is told that storing fails, reads on, and is kept when it does not',
  needs('strace'),
  async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    const { url } = gateway;
    using visitor = new Gateway(url);
    assert.ok(isKept(await send(url, saying(['before']))));
    {
      await using _ = await injectIntoFlushes(gateway.pid, 'error=EIO');
      await assertRefused(url, 'unavailable');
      await assertReadable(url);
    }
    await untilWritable(visitor);
    assert.ok(isKept(await send(url, saying(['after']))));
  },
);
