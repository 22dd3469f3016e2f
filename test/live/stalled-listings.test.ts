// Readers who ask for a long listing and then read nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import { startGatewayProcess } from '../gateway-process.ts';

const ENTRIES = 16_000;

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};
const PATHS = ['', '?order=oldest', '?limit=23456', '?identity=Lumen'];

test('readers who stall in a listing get every byte when they read on', async () => {
  await using gateway = await startGatewayProcess({
    args: ['--threads', '1'],
    env: { NODE_OPTIONS: '--max-semi-space-size=4' },
  });
  await fetch(`${gateway.url}/api/garden`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: Array.from({ length: ENTRIES }, () => entryOf(randomBytes(200).toString('hex'))).join(
      '\n',
    ),
  }).then((answer) => answer.arrayBuffer());
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

function entryOf(text: string): string {
  return JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity' });
}

/** Resolves to a response of which nothing is read. */
async function request(url: string, encoding: string): Promise<IncomingMessage> {
  const sent = get(url, { agent: false, headers: { 'Accept-Encoding': encoding } });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.pause();
  return answer;
}
