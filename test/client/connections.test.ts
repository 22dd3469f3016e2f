// The client where something stands between it and the gateway.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { type Entry, Gateway } from '@open-presence/client';
import { readLogLines } from '@open-presence/gateway';
import { pluck } from '../../conformance/value.ts';
import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { serve } from '../web-site.ts';
import { errorOf } from './error-of.ts';

const served = sharedGateway();

const OPENSSL =
  'req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=x -keyout key -out certificate';

test('what no repetition can cure is thrown at once', needs('openssl'), async () => {
  await using folder = await dataFolder();
  await promisify(execFile)('openssl', OPENSSL.split(' '), { cwd: folder.path });
  const [key, cert] = await Promise.all(
    ['key', 'certificate'].map((name) => readFile(join(folder.path, name))),
  );
  const secure = createServer({ key, cert }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const { port } = secure.address() as AddressInfo;
  await using loop = await serve((request, response) => {
    request.resume();
    response.writeHead(307, { Location: request.url }).end();
  });
  for (const [address, reason] of [
    ['http://127.0.0.1:6000', 'bad port'],
    [loop.url, 'redirect count exceeded'],
    [`https://127.0.0.1:${port}`, 'self-signed certificate'],
    [served.url.replace('http:', 'https:'), 'wrong version number'],
  ] as const) {
    const gateway = new Gateway(address, { onRetry: (error) => assert.fail(error) });
    const error = await errorOf(gateway.whisper('hush'));
    assert.equal(error.isTemporary, false);
    assert.ok(error.message.includes(reason), error.message);
    assert.match(error.message, /correct its address, its port or its certificate\.$/);
  }
  secure.close();
});

test('a listing that breaks off is an error with the cursor to go on from', async () => {
  const gateway = new Gateway(served.url, { identity: 'Interrupted' });
  for (const n of [1, 2, 3]) await gateway.plantSeed({ n });
  const answerInPart = async (url: string, response: ServerResponse): Promise<void> => {
    const text = await (await fetch(served.url + url)).text();
    response.write(text.slice(0, text.indexOf('\n', text.indexOf('\n') + 1) + 1), () =>
      response.destroy(),
    );
  };
  await using cutting = await serve(({ url = '' }, response) => void answerInPart(url, response));
  for (const [order, numbers] of [
    ['newest', [3, 2, 1]],
    ['oldest', [1, 2, 3]],
  ] as const) {
    const filters = { identity: 'Interrupted', order };
    const entries: Entry[] = [];
    const read = async (): Promise<void> => {
      for await (const entry of new Gateway(cutting.url).entries(filters)) entries.push(entry);
    };
    const { code, cursor, message } = await errorOf(read());
    assert.deepEqual([code, entries.length], ['unreachable', 1]);
    assert.match(message, new RegExp(`Go on with (before|after)=${entries[0]?.seq}\\.$`));
    for await (const entry of gateway.entries({ ...filters, ...cursor })) entries.push(entry);
    assert.deepEqual(pluck(entries, 'n'), numbers);
  }
});

test('a quiet stream that is cut again and again is followed on, without longer and longer pauses', async () => {
  const position = { log: 'quiet', head: 0, link: '0'.repeat(64) };
  await using quiet = await serve((request, response) => {
    const isStream = request.headers.accept === 'text/event-stream';
    if (!isStream) return void response.end(`${JSON.stringify(position)}\n`);
    const event = request.url?.startsWith('/api/log') === true ? 'checkpoint' : 'head';
    response.write(`event: ${event}\ndata: ${JSON.stringify(position)}\n\n`);
    // As a gateway does after 15 s of silence.
    setTimeout(() => response.write(':\n\n', () => setTimeout(() => response.destroy(), 50)), 50);
  });
  for (const read of [(gateway: Gateway, signal: AbortSignal) => gateway.follow({ signal })]) {
    const end = new AbortController();
    const pauses: number[] = [];
    const onRetry = (_: unknown, pause: number): void => {
      if (pauses.push(pause) === 5) end.abort(new Error('enough'));
    };
    const gateway = new Gateway(quiet.url, { onRetry, maxRetries: 2 });
    await assert.rejects(Array.fromAsync<unknown>(read(gateway, end.signal)), {
      message: 'enough',
    });
    assert.ok(Math.max(...pauses) <= 250, String(pauses));
  }
});

test('a stream of the log that ends before its first line may be asked for again', async () => {
  const position = { log: 'stopping', head: 0, link: '0'.repeat(64) };
  await using stopping = await serve((request, response) => {
    const isStream = request.headers.accept === 'text/event-stream';
    response.end(isStream ? 'event: checkpoint\nda' : `${JSON.stringify(position)}\n`);
  });
  const bytes = new Gateway(stopping.url).logBytes({ live: true });
  assert.equal((await errorOf(readLogLines(bytes))).code, 'unreachable');
});

test('a timeout ends an error that never ends, and not what takes long to send', async () => {
  await using slow = await serve((request, response) => {
    request.resume();
    if (request.method === 'GET') response.writeHead(502).write('<h1>');
    else setTimeout(() => response.writeHead(201).end('{"id":"a"}'), 1000);
  });
  const signal = AbortSignal.timeout(20_000);
  const patient = new Gateway(slow.url, { timeout: 3000, maxRetries: 0 });
  assert.equal((await errorOf(patient.status({ signal }))).status, 502);
  const gateway = new Gateway(slow.url, { timeout: 200, maxRetries: 0 });
  assert.equal((await gateway.plantSeed({ text: new Blob(['a']) }, { signal })).id, 'a');
  assert.equal((await errorOf(gateway.plantSeed('a', { signal }))).code, 'unreachable');
});
