/** Messages longer than memory should hold: what they contribute is stored as HTTP stores it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import {
  asArray,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../conformance/value.ts';
import { resultOf, said, type Result } from '../../conformance/mcp-result.ts';
import { residentOf } from '../live/resident.ts';
import { sharedGateway } from '../shared.ts';

const MEGABYTE = 1024 * 1024;

function call(name: string, args: string): string {
  return `{"jsonrpc":"2.0","id":"я","method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
}

const head = call('whisper', '{"text":""').slice(0, -2);

suite('an MCP message of any size', () => {
  const gateway = sharedGateway();

  interface Answer {
    readonly status: number;
    readonly message: JsonObject;
  }

  async function post(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${gateway.url}/mcp`, { method: 'POST', body, headers });
    return { status: response.status, message: asObject(parseJson(await response.text())) };
  }

  function resultIn({ message }: Answer): Result {
    return resultOf(asObject(message['result'] ?? assert.fail(JSON.stringify(message))));
  }

  async function entry(path: unknown): Promise<string> {
    return await (await fetch(gateway.url + asString(path))).text();
  }

  /** The members of the visitor. */
  async function storedBody(path: unknown): Promise<string> {
    return (await entry(path)).replace(/^.*?"timestamp":"[^"]*",/, '');
  }

  test('becomes the entry that HTTP stores, in whatever order its members come', async () => {
    const long = 'ї\\ud800'.repeat(30_000);
    const args = `{ "text" : "${long}","n": 1.50, "n":1e400, "identity":"L","identityType":"x" ,"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const response = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body: args });
    const byHttp = await storedBody(response.headers.get('Location'));
    for (const text of [
      call('leave_trace', args),
      `\uFEFF{"params":{"arguments":{"no":"${long}"},"arguments" : ${args} ,"n\\u0061me":"leave_trace"},"id":"я", "method":"tools/call","jsonrpc":"2.0"}`,
    ]) {
      const answer = await post(text);
      assert.equal(answer.message['id'], 'я');
      assert.equal(await storedBody(resultIn(answer).own['path']), byHttp);
    }
    const packed = await post(gzipSync(call('leave_trace', args)), { 'Content-Encoding': 'gzip' });
    assert.equal(await storedBody(resultIn(packed).own['path']), byHttp);
  });

  test('has its key wherever it stands, which is no part of the entry', async () => {
    const text = 'x'.repeat(100_000);
    const sent = (key: string): string =>
      call(
        'whisper',
        `{"idempotencyKey":0, "text":"${text}" , "a":[ 1 ] ,"idempotency\\u004bey": ${key}}`,
      );
    const first = resultIn(await post(sent('"k"'))).own;
    assert.equal(await storedBody(first['path']), `"text":"${text}","a":[ 1 ]}`);
    assert.equal(resultIn(await post(sent('"k"'))).own['id'], first['id']);
    const headers = { 'Idempotency-Key': 'k' };
    const body = `{"text":"${text}","a":[ 1 ]}`;
    const response = await fetch(`${gateway.url}/api/shepit`, { method: 'POST', headers, body });
    assert.equal(asObject(await response.json())['id'], first['id']);
    const keyless = await post(call('whisper', body), headers);
    assert.equal(resultIn(keyless).own['id'], first['id']);
    const empty = await post(call('whisper', body), { 'Idempotency-Key': '' });
    assert.match(resultIn(empty).texts[0] ?? '', /^invalid-parameter: .*"Idempotency-Key" must be/);
    const { message } = await post(sent('""'));
    assert.match(JSON.stringify(message), /idempotencyKey\\" must be a string/);
  });

  test('brings further members of any length, as an object or as its text', async () => {
    const long = 'ї\\ud800'.repeat(400_000);
    const members = `"n":1.50,"long":"${long}","deep":{"k":1 }`;
    const further = `{ ${members} }`;
    for (const sent of [further, JSON.stringify(further)]) {
      const args = `{"furtherMembers":7, "text":"a" ,"idempotencyKey":null,"furtherMembers": ${sent}}`;
      const { own } = resultIn(await post(call('whisper', args)));
      assert.equal(await storedBody(own['path']), `"text":"a",${members}}`);
    }
    for (const wrong of [`["${long}"]`, JSON.stringify(`{"a":"${long}"`), JSON.stringify(long)]) {
      const { texts } = resultIn(await post(call('whisper', `{"furtherMembers":${wrong}}`)));
      assert.match(texts[0] ?? '', /^invalid-entry: .*"furtherMembers" must be a JSON object/);
    }
  });

  test('is refused in the words of HTTP', async () => {
    const args = `{"text":1,"long":"${'x'.repeat(100_000)}"}`;
    const response = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body: args });
    const { texts, own } = resultIn(await post(call('leave_trace', args)));
    const { detail, example, code } = asObject(await response.json());
    assert.ok(texts[0]?.startsWith(`${asString(code)}: ${asString(detail)}\n`));
    assert.deepEqual(own['example'], example);
  });

  test('may be a batch of long calls', async () => {
    const say = (id: number): string =>
      call('whisper', `{"n":${id}.0,"long":"${'x'.repeat(50_000)}"}`).replace('"я"', String(id));
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      body: `[${[1, 2, 3].map(say).join(',')}]`,
    });
    const answers = asArray(await response.json()).map(asObject);
    for (const message of answers) {
      const body = await storedBody(resultIn({ status: 200, message }).own['path']);
      assert.ok(body.startsWith(`"n":${String(message['id'])}.0,`));
    }
    assert.equal(answers.length, 3);
  });

  test('takes what a call asks for out of arguments of any length', async () => {
    const { path } = resultIn(await post(call('whisper', '{"text":"only this one"}'))).own;
    const more = 'x'.repeat(3 * MEGABYTE);
    const id = asString(path).slice('/api/entries/'.length);
    const answer = await post(call('get_entry', `{"more":"${more}","id":"no","id":"${id}"}`));
    assert.match(JSON.stringify(said(resultIn(answer))), /only this one/);
    await post(call('whisper', '{"text":"and another one"}'));
    const newest = await post(call('read', `{"more":"${more}","filters":"limit=1"}`));
    const { own } = resultIn(newest);
    assert.equal(said(resultIn(newest)).length, 1, JSON.stringify(own));
    const asked = `{"more":"${more}","identity":"Lumen","budget":"soon"}`;
    assert.match(
      JSON.stringify((await post(call('catch_up', asked))).message),
      /budget.{0,3} must be a whole number/,
    );
  });

  test('that needs more than a megabyte beside an entry is told so, with its id', async () => {
    const long = 'x'.repeat(2 * MEGABYTE);
    for (const [text, id] of [
      [call('read', `{"identity":"${long}"}`), 'я'],
      [`{"jsonrpc":"2.0","method":"ping","more":"${long}","id":7}`, 7],
      [`{"jsonrpc":"2.0","method":"ping","id":"${long}"}`, null],
    ] as const) {
      const { status, message } = await post(text);
      assert.equal(status, 400);
      assert.equal(message['id'], id);
      const { code, message: detail } = asObject(message['error']);
      assert.equal(code, -32_600);
      assert.match(asString(detail), /more than 1048576 bytes/);
    }
    const { status, message } = await post(`{"a":"${long}",}`);
    assert.deepEqual([status, asObject(message['error'])['code']], [400, -32_700]);
  });

  test('takes no memory for its length, however many of them arrive', async () => {
    const chunk = Buffer.alloc(MEGABYTE, 'x');
    const sockets: Socket[] = [];
    const { hostname, port } = new URL(gateway.url);
    const atFirst = await residentOf(gateway.pid);
    for (let count = 0; count < 10; count += 1) {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n${head},"b":"`,
      );
    }
    for (let sent = 0; sent < 40; sent += 1) {
      for (const socket of sockets) if (!socket.write(chunk)) await once(socket, 'drain');
      if (sent % 10 === 0) assert.equal((await fetch(`${gateway.url}/api`)).status, 200);
    }
    const grown = (await residentOf(gateway.pid)) - atFirst;
    for (const socket of sockets) socket.destroy();
    assert.ok(grown < 200 * MEGABYTE, `${grown} bytes for 400 MB of messages`);
  });

  test('may be longer than any string, and have more values than memory', async () => {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from(`${head},"a":[0`);
      const values = Buffer.from(',{}'.repeat(200_000));
      for (let count = 0; count < 11; count += 1) yield values;
      yield Buffer.from('],"b":"');
      const text = Buffer.alloc(MEGABYTE, 'x');
      for (let count = 0; count < 260; count += 1) yield text;
      yield Buffer.from('"}}}');
    }
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      body: ReadableStream.from(chunks()),
      duplex: 'half',
    });
    const { path } = resultIn({ status: 200, message: asObject(await response.json()) }).own;
    const stored = await fetch(gateway.url + asString(path));
    let size = 0;
    const body: ReadableStream<Uint8Array> = stored.body ?? assert.fail();
    for await (const piece of body) size += piece.length;
    assert.ok(size > 264 * MEGABYTE, `${size} bytes`);
    assert.ok((await residentOf(gateway.pid)) < 600 * MEGABYTE);
  });

  test('is answered when to send it again where it cannot be written to the disk', async () => {
    await rm(join(gateway.data, 'large', 'incoming'), { recursive: true });
    const body = call('whisper', `{"text":"${'x'.repeat(100_000)}"}`);
    const response = await fetch(`${gateway.url}/mcp`, { method: 'POST', body });
    assert.equal(response.status, 503);
    assert.match(response.headers.get('Retry-After') ?? '', /^\d+$/);
    const { error } = asObject(await response.json());
    assert.equal(asObject(error)['code'], -32_603);
    assert.equal((await post(call('read', '{}'))).status, 200);
  });
});
