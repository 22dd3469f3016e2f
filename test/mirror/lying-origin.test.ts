// An origin may lie: what a mirror reads of it takes no more memory, however much it sends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { OriginWithholdings } from '../../packages/cli/src/log/origin-withholdings.ts';

const REASON = 'x'.repeat(60 * 1024);
const CASES = 400;
/** Well below all of the reasons, and above one. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

async function serve(handle: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}

suite('a mirror of a lying origin', () => {
  test('holds few long reasons of withholdings at once, and sees to all', async () => {
    await using origin = await serve((_, response) => {
      const at = '2026-11-22T00:00:00Z';
      for (let number = 1; number <= CASES; number += 1)
        response.write(`${JSON.stringify({ number, seq: number, at, reason: REASON })}\n`);
      response.end();
    });
    const batches: { readonly seq: number; readonly reason: string }[][] = [];
    const copy = {
      head: () => CASES,
      entries: { withhold: async (batch: (typeof batches)[number]) => void batches.push(batch) },
    } as unknown as ConstructorParameters<typeof OriginWithholdings>[0]['copy'];
    const { signal } = new AbortController();
    await new OriginWithholdings({ gateway: new Gateway(origin.url), copy, signal }).step();
    assert.deepEqual(
      batches.flat().map(({ seq }) => seq),
      Array.from({ length: CASES }, (_, at) => at + 1),
    );
    for (const batch of batches) {
      const characters = batch.reduce((sum, { reason }) => sum + reason.length, 0);
      assert.ok(characters < MOST_CHARACTERS, `${characters} characters`);
    }
  });
});
