import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';

import {
  GARDEN_ENTRY,
  getRequest,
  openGateway,
  statusesIn,
  type TestGateway,
  type TestGatewayOptions,
} from '../../gateway.fixture.ts';
import type { Log } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { simplePostIn } from './simple-post.ts';

const request = (body: string): string =>
  `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const post = request(GARDEN_ENTRY);

interface GatedGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly log: Log;
  /** Resolves when an entry is to be stored. */
  readonly appending: Promise<void>;
  /** Lets entries be stored. */
  release(): void;
}

/** Its log stores nothing until it may. */
async function openGated(options: TestGatewayOptions): Promise<GatedGateway> {
  const log = openMemoryLog();
  const appending = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const append: Log['append'] = async (draft) => {
    appending.resolve();
    await gate.promise;
    return await log.append(draft);
  };
  const appendSmall: Log['appendSmall'] = (draft, onResult) => {
    assert.notEqual(options.bypass, false);
    appending.resolve();
    void gate.promise.then(() => log.appendSmall(draft, onResult));
  };
  const gated = new Proxy<Log>(log, {
    get(target, name) {
      const value: unknown =
        Reflect.get({ append, appendSmall }, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const gateway = await openGateway(gated, options);
  return {
    gateway,
    log,
    appending: appending.promise,
    release: gate.resolve,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

test('a POST is simple with headers that clients send, and with no others', () => {
  const simple = (...headers: string[]): boolean => {
    const lines = ['POST /api/garden HTTP/1.1', 'Host: localhost', 'Content-Length: 2', ...headers];
    return simplePostIn(Buffer.from(`${lines.join('\r\n')}\r\n\r\n{}`, 'latin1')) !== undefined;
  };
  assert.ok(simple());
  assert.ok(
    simple(
      'connection: keep-alive',
      'content-type: text/plain;charset=UTF-8',
      'accept: */*',
      'accept-language: *',
      'sec-fetch-mode: cors',
      'user-agent: node',
      'accept-encoding: gzip, deflate',
      'idempotency-key: "8e03978e-40d5-43dd-bc93-6894a57f9324"',
    ),
  );
  for (const header of [
    'Connection: close',
    'Content-Length: 2',
    'Content-Type: application/x-ndjson',
    'Expect: 100-continue',
    'Host: localhost',
    'Idempotency-Key: ',
    'Idempotency-Key: a b',
    'Idempotency-Key:  a',
    'Idempotency-Key:a',
    'Idempotency-Key: \u00e9',
    'Idempotency-Key: a\r\nIdempotency-Key: a',
    'Prefer: return=minimal',
    'Transfer-Encoding: chunked',
    'Upgrade: h2c',
    'User-Agent: a\r\n folded',
    'User-Agent: a\nb',
    'User-Agent: \u00e9',
    'User-Agent : a',
    'user-Agent: a',
  ])
    assert.equal(simple(header), false, header);
});

for (const bypass of [true, false]) {
  suite(bypass ? 'a POST that bypasses node:http' : 'the same through node:http', () => {
    test('is answered before the gateway stops, after another of its connection', async () => {
      await using gated = await openGated({ bypass });
      const { gateway } = gated;
      await using caller = await gateway.connect();
      caller.send(getRequest('/api'));
      await caller.until(/\r\n\r\n\{.*\}/s);
      caller.send(post);
      await gated.appending;
      const stopped = gateway[Symbol.asyncDispose]();
      await pause(100);
      gated.release();
      assert.deepEqual(statusesIn(await caller.untilClosed()), [200, 201]);
      await stopped;
    });

    test('is answered before what comes after it', async () => {
      await using gated = await openGated({ bypass });
      await using caller = await gated.gateway.connect();
      caller.send(post);
      await gated.appending;
      caller.send(`${getRequest('/api')}${post}${getRequest('/nowhere')}`);
      await pause(20);
      assert.equal(caller.received, '');
      gated.release();
      const received = await caller.until(/"code":"not-found"/);
      assert.deepEqual(statusesIn(received), [201, 200, 201, 404]);
    });

    test('is stored and answered if the caller closes its half before', async () => {
      await using gated = await openGated({ bypass });
      await using caller = await gated.gateway.connect();
      caller.send(post);
      await gated.appending;
      caller.socket.allowHalfOpen = true;
      caller.socket.end();
      gated.release();
      assert.deepEqual(statusesIn(await caller.untilClosed()), [201]);
      assert.equal(gated.log.head(), 1);
    });

    test('waits while the gateway starts', async () => {
      await using gated = await openGated({ bypass, starting: true });
      await using caller = await gated.gateway.connect();
      caller.send(post);
      await pause(20);
      gated.release();
      gated.gateway.open();
      assert.deepEqual(statusesIn(await caller.until(/ai_entity/)), [201]);
    });

    test('waits while the caller does not read the responses', async () => {
      await using gated = await openGated({ bypass });
      gated.release();
      const { text: _, ...signature } = JSON.parse(GARDEN_ENTRY) as Record<string, string>;
      const large = request(JSON.stringify({ text: 'x'.repeat(60_000), ...signature }));
      await using caller = await gated.gateway.connect();
      caller.socket.pause();
      let sent = 0;
      while (gated.log.head() === sent) {
        caller.send(large);
        sent += 1;
        assert.ok(sent < 1000);
        for (let tries = 0; tries < 100 && gated.log.head() < sent; tries += 1) await pause(2);
      }
      caller.socket.resume();
      await caller.untilText(`"seq":${sent},`);
      assert.deepEqual(new Set(statusesIn(caller.received)), new Set([201]));
    });
  });
}
