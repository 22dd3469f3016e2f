// The client where something stands between it and the gateway.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { Gateway } from '@open-presence/client';
import { pluck } from '../../conformance/value.ts';
import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { serve } from '../web-site.ts';
import { endingProxy } from './ending-proxy.ts';
import { errorOf } from './error-of.ts';

const served = sharedGateway();

for (const status of [301, 302, 303])
  test(`a redirect (${status}) that loses what is said is an error`, async () => {
    await using elsewhere = await serve((request, response) => {
      request.resume();
      response.writeHead(status, { Location: `${served.url}${request.url}` }).end();
    });
    const gateway = new Gateway(elsewhere.url, { identity: 'Redirected' });
    for (const say of [
      () => gateway.leaveTrace('Where does it go?'),
      () => gateway.firstContact({ seeking: ['a way'] }),
      () => gateway.whisper('hush', { minimal: true }),
    ]) {
      const error = await errorOf(say());
      assert.equal(error.code, 'unexpected-answer');
      assert.match(error.message, /Give the address of the gateway itself/);
    }
  });

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

test('many entries are stored once over connections that never carry all of them', async () => {
  const gateway = new Gateway(served.url, { identity: 'Narrow' });
  let attempts = 0;
  await using narrow = await serve((request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    attempts += 1;
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > 30_000) request.destroy();
    });
    request.on('end', () => {
      const { 'content-type': type = '', 'idempotency-key': key = '' } = request.headers;
      const headers = { 'Content-Type': type, 'Idempotency-Key': String(key) };
      const init = { method: 'POST', headers, body: Buffer.concat(chunks) };
      void fetch(`${served.url}${request.url}`, init)
        .then((answer) => answer.text())
        .then((text) => response.end(text));
    });
  });
  const texts = Array.from({ length: 400 }, (_, n) => ({ n, by: 'Narrow', text: 'x'.repeat(200) }));
  const { seq } = await gateway.plantSeed({ text: 'before' });
  const signal = AbortSignal.timeout(60_000);
  const results = await Array.fromAsync(
    new Gateway(narrow.url).sayMany('seeds', texts, { signal }),
  );
  assert.deepEqual(pluck(results, 'index'), [...texts.keys()]);
  const stored = await Array.fromAsync(gateway.entries({ after: seq, order: 'oldest' }));
  assert.deepEqual(pluck(stored, 'n'), [...texts.keys()]);
  assert.ok(attempts < 20, String(attempts));
});

test('a listing that broke off ends where what came meanwhile is not lost', async () => {
  const gateway = new Gateway(served.url, { identity: 'Interrupted' });
  for (const n of [1, 2, 3]) await gateway.plantSeed({ text: `brokenoff ${n}` });
  let asked = 0;
  const answerInPart = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const answer = await fetch(`${served.url}${request.url}`, { headers: { Accept: '*/*' } });
    const text = await answer.text();
    asked += 1;
    if (asked % 2 === 0) response.end(text);
    else {
      await gateway.plantSeed({ text: `brokenoff meanwhile ${asked}` });
      response.write(text.slice(0, text.indexOf('\n', text.indexOf('\n') + 1) + 1), () =>
        response.destroy(),
      );
    }
  };
  await using cutting = await serve((request, response) => void answerInPart(request, response));
  const cut = new Gateway(cutting.url);
  const { entries, head } = await cut.page({ identity: 'Interrupted' });
  assert.equal(entries.length, 3);
  const later = await gateway.page({ identity: 'Interrupted', after: head });
  assert.equal(later.entries.length, 1);
  const search = cut.search('brokenoff', { order: 'newest' });
  for (;;) {
    const step = await search.next();
    if (step.done !== true) continue;
    const { known = 0 } = step.value;
    // The index may lag: what it had not known yet comes after this as well.
    const unknown = await gateway.page({ identity: 'Interrupted', after: known });
    assert.equal(unknown.entries[0]?.text, 'brokenoff meanwhile 3');
    break;
  }
});

test('what a proxy ends within a line, as if it were whole, is read on', async () => {
  const direct = new Gateway(served.url, { identity: 'Ended' });
  const texts = Array.from({ length: 9 }, (_, n) => ({ text: 'ended early', n }));
  await Array.fromAsync(direct.sayMany('seeds', texts));
  await using proxy = await endingProxy(served.url, 700);
  const ended = new Gateway(proxy.url);
  const readings: ((gateway: Gateway) => Promise<unknown>)[] = [
    (gateway) => Array.fromAsync(gateway.entries()),
    (gateway) => text(Readable.from(gateway.entryLines())),
  ];
  for (const read of readings) assert.deepEqual(await read(ended), await read(direct));
  const said = await Array.fromAsync(ended.sayMany('shepit', texts));
  assert.deepEqual(pluck(said, 'index'), [...texts.keys()]);
  assert.equal((await direct.page({ kind: 'shepit' })).entries.length, texts.length);
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
  assert.equal((await gateway.sayJson('seeds', new Blob(['{}']), { signal })).id, 'a');
  assert.equal((await gateway.plantSeed({ text: new Blob(['a']) }, { signal })).id, 'a');
  assert.equal((await errorOf(gateway.plantSeed('a', { signal }))).code, 'unreachable');
});
