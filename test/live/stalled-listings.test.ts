// Readers who ask for a long listing and then read nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

import { PATIENCE_MS, until } from '../../conformance/until.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { residentOf } from './resident.ts';

const ENTRIES = 16_000;
const READERS = 1000;
/** A connection takes about 100 KiB, or for a while twice that; a page of the log is 128 to 256 KiB. */
const MAX_BYTES_EACH = 224 * 1024;
const SLACK = 48 * 1024 * 1024;

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
};
const PATHS = ['', '?order=oldest', '?limit=23456', '?identity=Lumen'];

test('readers who stall in a listing get every byte when they read on', async () => {
  await using gateway = await startGatewayProcess({
    args: ['--threads', '1'],
    env: { NODE_OPTIONS: '--max-semi-space-size=4' },
  });
  await storeEntries(gateway.url);
  const wanted = new Map<string, Buffer>();
  for (const path of PATHS) {
    const answer = await fetch(`${gateway.url}/api/garden${path}`);
    wanted.set(path, Buffer.from(await answer.arrayBuffer()));
  }

  const variants = [
    ...PATHS.map((path) => ({ path, encoding: 'identity' })),
    ...Object.keys(DECODERS).map((encoding) => ({ path: '', encoding })),
  ];
  const others = await Promise.all(
    variants.map(async ({ path, encoding }) => {
      const answer = await request(`${gateway.url}/api/garden${path}`, encoding);
      return { path, encoding, answer };
    }),
  );
  await pause(500);
  for (const { path, encoding, answer } of others) {
    assert.equal(answer.headers['content-encoding'] ?? 'identity', encoding);
    const received = DECODERS[encoding]?.(await buffer(answer));
    assert.ok(received?.equals(wanted.get(path) ?? Buffer.alloc(0)), `${path} in ${encoding}`);
  }
});

test('readers who stall in a listing hold no page of it', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
  await storeEntries(gateway.url);
  const before = await residentOf(gateway.pid);
  await Promise.all(
    Array.from({ length: READERS }, (_, index) => {
      return request(`${gateway.url}/api/garden`, index % 10 === 0 ? 'zstd' : 'identity');
    }),
  );
  // What was needed to begin is garbage for a while.
  await until(
    async () => ((await residentOf(gateway.pid)) - before) / READERS,
    (each) => each < MAX_BYTES_EACH,
    (each) => `${Math.round(each)} bytes each`,
  );
});

test('the memory of a long question is given back', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
  const before = await residentOf(gateway.pid);
  const words = Array.from({ length: 200_000 }, (_, index) => index.toString(36)).join('+');
  const answer = await fetch(`${gateway.url}/api/search?q=${words}`);
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  while ((await residentOf(gateway.pid)) > before + SLACK) await pause(500, undefined, { signal });
});

async function storeEntries(url: string): Promise<void> {
  const answer = await fetch(`${url}/api/garden`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: Array.from({ length: ENTRIES }, () => entryOf(randomBytes(200).toString('hex'))).join(
      '\n',
    ),
  });
  await answer.arrayBuffer();
}

function entryOf(text: string): string {
  return JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity' });
}

/** Resolves to a response that nobody reads. */
async function request(url: string, encoding: string): Promise<IncomingMessage> {
  const sent = get(url, { agent: false, headers: { 'Accept-Encoding': encoding } });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.pause();
  return answer;
}
