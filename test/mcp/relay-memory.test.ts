/** `presence mcp` with messages longer than memory should hold, and with servers that send it away. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { suite, test } from 'node:test';

import { asObject, asString, parseJson } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { resultOf } from '../../conformance/mcp-result.ts';
import { residentOf } from '../live/resident.ts';
import { COMMAND } from '../command.ts';
import { serve } from '../web-site.ts';

const MEGABYTE = 1024 * 1024;
const LONG = 100;
/** More than the relay reads: what has arrived then is not read on. */
const ENDLESS = 400 * MEGABYTE;

type Relay = ChildProcessByStdio<Writable, Readable, null>;

function startRelay(url: string): Relay {
  return spawn(process.execPath, [COMMAND, 'mcp', '--url', url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function* longText(before: string, after: string): Generator<Buffer> {
  yield Buffer.from(before);
  const chunk = Buffer.alloc(MEGABYTE, 'x');
  for (let count = 0; count < LONG; count += 1) yield chunk;
  yield Buffer.from(after);
}

function hashOf(chunks: Iterable<Uint8Array>): string {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** The largest memory of the process that was seen until it is stopped. */
function watchMemory(pid: number): () => number {
  let most = 0;
  const look = (): void => {
    residentOf(pid).then(
      (bytes) => {
        if (bytes > most) most = bytes;
      },
      () => {},
    );
  };
  const timer = setInterval(look, 50);
  return () => {
    clearInterval(timer);
    return most;
  };
}

suite('presence mcp, in flat memory', () => {
  test('passes on a line of any length, with the headers of its members', async () => {
    await using gateway = await startGatewayProcess();
    const relay = startRelay(gateway.url);
    const lines = createInterface(relay.stdout)[Symbol.asyncIterator]();
    const mostMemory = watchMemory(relay.pid ?? 0);
    const meta =
      '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
    const before =
      '{"method":"tools/call","params":{"name":"whisper","arguments":{"n":12345678901234567890,"text":"';
    const line = longText(before, `"},"_meta":${meta}},"jsonrpc":"2.0","id":"я"}\n`);
    await pipeline(Readable.from(line), relay.stdin);
    const step = await lines.next();
    const { id, result } = asObject(parseJson(String(step.value)));
    assert.equal(id, 'я');
    const path = asString(resultOf(asObject(result)).own['path']);
    const stored = Buffer.from(await (await fetch(gateway.url + path)).arrayBuffer());
    assert.ok(stored.subarray(0, 300).includes(',"n":12345678901234567890,"text":"xx'));
    assert.ok(stored.length > LONG * MEGABYTE);
    const most = mostMemory();
    assert.ok(most > 0 && most < 220 * MEGABYTE, `${most} bytes`);
    relay.kill('SIGKILL');
  });

  for (const form of ['a body', 'an event'] as const) {
    test(`passes on an answer of any length, letter by letter: ${form}`, async () => {
      const before = '{"result":{"n":1.50,"text":"';
      const after = '"},"jsonrpc":"2.0","id":1}';
      await using server = await serve((request, response) => {
        request.resume().once('end', () => {
          const isEvent = form === 'an event';
          const type = isEvent ? 'text/event-stream' : 'application/json';
          response.writeHead(200, { 'Content-Type': type });
          const text = isEvent
            ? longText(`: awake\n\ndata: ${before}`, `${after}\n\n`)
            : longText(before, after);
          Readable.from(text).pipe(response);
        });
      });
      const relay = startRelay(server.url);
      const mostMemory = watchMemory(relay.pid ?? 0);
      relay.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      const hash = createHash('sha256');
      for await (const chunk of relay.stdout as AsyncIterable<Buffer>) hash.update(chunk);
      assert.equal(hash.digest('hex'), hashOf(longText(before, `${after}\n`)));
      const most = mostMemory();
      assert.ok(most > 0 && most < 220 * MEGABYTE, `${most} bytes`);
    });
  }

  for (const [what, status, type, beginning] of [
    ['a refusal', 400, 'application/problem+json', '{"detail":"'],
    ['a body', 200, 'application/json', '{"jsonrpc":"2.0","id":1,"result":"'],
    ['an event', 200, 'text/event-stream', 'data: {"jsonrpc":"2.0","id":1,"result":"'],
    ['a comment of an event stream', 200, 'text/event-stream', ': '],
  ] as const) {
    test(`reads no answer on that never ends, and says so: ${what}`, async () => {
      let sent = 0;
      await using server = await serve((request, response) => {
        request.resume();
        response.writeHead(status, { 'Content-Type': type });
        response.write(beginning);
        const text = function* (): Generator<Buffer> {
          const chunk = Buffer.alloc(MEGABYTE, 'x');
          for (; sent < ENDLESS; sent += chunk.length) yield chunk;
        };
        pipeline(Readable.from(text()), response, { end: false }).catch(() => {});
      });
      const relay = startRelay(server.url);
      const mostMemory = watchMemory(relay.pid ?? 0);
      relay.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      const { id, error } = asObject(parseJson(await textOf(relay.stdout)));
      assert.equal(id, 1);
      assert.match(asString(asObject(error)['message']), /is longer than .* was not read on/);
      assert.ok(sent < ENDLESS);
      // With what the collector has not taken back yet. The relay reads 256 MiB: held, they would come on top.
      const most = mostMemory();
      assert.ok(most < 300 * MEGABYTE, `${most} bytes`);
    });
  }

  test('sends a message to no other address than its own', async () => {
    const received: string[] = [];
    await using other = await serve((request, response) => {
      received.push(request.method ?? '');
      response.end('{}');
    });
    for (const status of [302, 307]) {
      await using server = await serve((_, response) => {
        response.writeHead(status, { Location: `${other.url}/mcp` }).end();
      });
      const relay = startRelay(server.url);
      relay.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      const { error } = asObject(parseJson(await textOf(relay.stdout)));
      const { message } = asObject(error);
      assert.match(
        asString(message),
        new RegExp(`redirects to ${other.url}/mcp, .* --url ${other.url}/mcp`),
      );
    }
    assert.deepEqual(received, []);
  });
});
