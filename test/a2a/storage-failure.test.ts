/** Agents where nothing can be stored: a full disk, and flushes that fail. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { Gateway } from '../../conformance/gateway.ts';
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { MIB, smallDisk } from '../crash/disk.ts';
import { untilFull, untilWritable } from '../crash/status.ts';
import { injectIntoFlushes } from '../crash/strace.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';

interface Told {
  readonly status: number;
  readonly retry: string | null;
  readonly body: JsonObject;
}

async function post(url: string, body: object): Promise<Told> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { status, headers } = answer;
  return { status, retry: headers.get('retry-after'), body: asObject(await answer.json()) };
}

function saying(words: readonly string[], idempotencyKey = randomUUID()): JsonObject {
  const parts = words.map((text) => ({ data: { text } }));
  const metadata = { kind: 'seeds', idempotencyKey };
  return { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, metadata } };
}

const rest = (url: string, params: JsonObject): Promise<Told> =>
  post(`${url}/a2a/v1/message:send`, params);
const rpc = (url: string, params: JsonObject, method = 'SendMessage'): Promise<Told> =>
  post(`${url}/a2a`, { jsonrpc: '2.0', id: 7, method, params });

interface Fault {
  readonly code: string;
  /** The HTTP status, and its name in `google.rpc.Code`. */
  readonly status: number;
  readonly name: string;
}

const FULL: Fault = { code: 'out-of-space', status: 507, name: 'RESOURCE_EXHAUSTED' };
const FAILING: Fault = { code: 'unavailable', status: 503, name: 'UNAVAILABLE' };

function assertInfo(details: unknown, { code }: Fault): void {
  const [info] = asArray(details).map(asObject);
  assert.deepEqual(info, {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code.replaceAll('-', '_').toUpperCase(),
    domain: 'a2a-protocol.org',
    metadata: { code },
  });
}

/** Says what is wrong and how to try again, by every binding, streamed or not. */
async function assertRefused(url: string, fault: Fault, words: string): Promise<void> {
  const help = /^Cannot store the message: .*\. Send it again later, with an "idempotencyKey"/;
  for (const verb of ['send', 'stream']) {
    const { status, retry, body } = await post(`${url}/a2a/v1/message:${verb}`, saying([words]));
    assert.equal(status, fault.status, JSON.stringify(body));
    assert.match(retry ?? '', /^\d+$/);
    const error = asObject(body['error']);
    assert.deepEqual([error['code'], error['status']], [fault.status, fault.name]);
    assert.match(asString(error['message']), help);
    assertInfo(error['details'], fault);
  }
  const { status, body } = await rpc(url, saying([words]));
  assert.deepEqual([status, body['id']], [200, 7]);
  const error = asObject(body['error']);
  assert.equal(error['code'], -32_603);
  assert.match(asString(error['message']), help);
  assertInfo(error['data'], fault);
  const part = { kind: 'text', text: words };
  const old = { message: { kind: 'message', messageId: '1', role: 'user', parts: [part] } };
  const { error: oldError } = (await rpc(url, old, 'message/send')).body;
  assert.equal(asObject(oldError)['code'], -32_603);
  assert.match(asString(asObject(oldError)['message']), help);
}

async function assertReadable(url: string): Promise<void> {
  const parts = [{ data: { skill: 'read', limit: 1 } }];
  const message = { messageId: 'm', role: 'ROLE_USER', parts };
  const { status, body } = await rest(url, { message });
  assert.equal(status, 200);
  assert.ok('message' in body);
}

function isKept({ status, body }: Told): boolean {
  return status === 200 && 'message' in body;
}

test(
  'an agent is told that the disk is full, reads on, and is kept when it is not',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(24 * MIB);
    await using gateway = await startGatewayProcess({ data: disk.data });
    const { url } = gateway;
    using visitor = new Gateway(url);
    assert.ok(isKept(await rest(url, saying(['before']))));
    await disk.fill();
    for (const size of [200_000, 20_000, 1]) {
      for (let refusals = 0; refusals < 3;) {
        if (!isKept(await rest(url, saying(['x'.repeat(size)])))) refusals += 1;
      }
    }
    await untilFull(disk, visitor);
    await assertRefused(url, FULL, 'x');
    await assertReadable(url);
    const lost = saying(['one', 'two', 'three']);
    assert.equal((await rest(url, lost)).status, 507);
    await disk.free();
    await untilWritable(visitor);
    for (let count = 0; count < 2; count += 1) assert.ok(isKept(await rest(url, lost)));
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
    assert.ok(isKept(await rest(url, saying(['before']))));
    {
      await using _ = await injectIntoFlushes(gateway.pid, 'error=EIO');
      await assertRefused(url, FAILING, 'x');
      await assertReadable(url);
    }
    await untilWritable(visitor);
    assert.ok(isKept(await rest(url, saying(['after']))));
  },
);
