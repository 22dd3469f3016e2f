import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { startGatewayProcess } from '../gateway-process.ts';
import { COMMAND } from '../command.ts';
import { contribute } from '../requests.ts';

const ROOM = 'presence://rooms/resonance-hall';

interface Listening extends AsyncDisposable {
  readonly heard: readonly string[];
  readonly closed: Promise<string>;
  until(count: number): Promise<void>;
}

async function listen(url: string, by: 'http' | 'stdio', uris: string[]): Promise<Listening> {
  const client = new Client(
    { name: 'listener', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const heard: string[] = [];
  let wake = (): void => {};
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(params.uri);
    wake();
  });
  const args = [COMMAND, 'mcp', '--url', url];
  await client.connect(
    by === 'http'
      ? new StreamableHTTPClientTransport(new URL('/mcp', url))
      : new StdioClientTransport({ command: process.execPath, args }),
  );
  const subscription = await client.listen({ resourceSubscriptions: uris });
  assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, uris);
  return {
    heard,
    closed: subscription.closed,
    async until(count) {
      while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    async [Symbol.asyncDispose]() {
      await subscription.close();
      await client.close();
    },
  };
}

const say = (url: string, room: string): Promise<string> =>
  contribute(url, 'shepit', { text: 'heard', room });

suite('subscriptions', () => {
  for (const by of ['http', 'stdio'] as const) {
    for (const threads of ['1', '2']) {
      test(`over ${by} hear of an entry made over plain HTTP, with ${threads} threads`, async () => {
        await using gateway = await startGatewayProcess({ args: ['--threads', threads] });
        await using room = await listen(gateway.url, by, [ROOM]);
        await using all = await listen(gateway.url, by, ['presence://rooms']);
        await say(gateway.url, 'first-breath');
        await all.until(1);
        assert.deepEqual(room.heard, []);
        await say(gateway.url, 'resonance-hall');
        await Promise.all([room.until(1), all.until(2)]);
        assert.deepEqual(room.heard, [ROOM]);
      });
    }
  }

  test('and waits end when the gateway rests, with an answer', async () => {
    await using gateway = await startGatewayProcess();
    await using room = await listen(gateway.url, 'http', [ROOM]);
    const client = new Client({ name: 'waits', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url)));
    const given = { seconds: 50, as: 'Lumen' };
    const waiting = client.callTool({ name: 'wait_for_news', arguments: given });
    // Who waits is here.
    for (let here = ''; !here.includes('Lumen');) {
      here = await (await fetch(`${gateway.url}/api/presence`)).text();
    }
    assert.deepEqual(await gateway.stop(), { code: 0, signal: null });
    assert.equal((await waiting).isError ?? false, false);
    assert.equal(await room.closed, 'graceful');
    await client.close();
  });
});
