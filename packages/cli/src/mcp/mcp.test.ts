import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';

const COMMAND = join(import.meta.dirname, '../../presence.js');

interface Relay extends AsyncDisposable {
  say(message: object): void;
  /** The next line that it writes. */
  next(): Promise<Record<string, unknown>>;
  /** Closes its input; resolves to its exit code. */
  close(): Promise<unknown>;
  readonly child: ChildProcess;
}

function relay(url: string): Relay {
  const child = spawn(process.execPath, [COMMAND, 'mcp'], {
    env: { ...process.env, PRESENCE_URL: url },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended: Promise<unknown[]> = once(child, 'close');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    say: (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async next() {
      const step = await lines.next();
      const value: unknown = JSON.parse(String(step.value));
      assert.ok(typeof value === 'object' && value !== null);
      return { ...value };
    },
    async close() {
      child.stdin.end();
      return (await ended)[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

suite('presence mcp', () => {
  test('answers each request with an error while the gateway cannot be reached', async () => {
    const server = createServer();
    const url = await listening(server);
    server.close();
    await using relayed = relay(url);
    for (const id of [1, 'two']) {
      relayed.say({ id, method: 'tools/list' });
      const answer = await relayed.next();
      assert.equal(answer['id'], id);
      assert.match(JSON.stringify(answer['error']), /Cannot reach http:.*ECONNREFUSED/);
    }
    assert.equal(await relayed.close(), 0);
  });

  test('answers a request whose response broke off with an error', async () => {
    const server = createServer((socket) => {
      const head =
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n: one\n\n';
      socket.once('data', () => socket.end(head));
    });
    const url = await listening(server);
    await using relayed = relay(url);
    relayed.say({ id: 1, method: 'tools/list' });
    assert.match(JSON.stringify((await relayed.next())['error']), /Cannot reach /);
    server.close();
  });

  for (const [what, head] of [
    ['a page', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'],
    ['a value', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
    ['another way', 'HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'],
  ] as const) {
    test(`reports a server that is not a gateway, and relays nothing from it: ${what}`, async () => {
      const server = createServer((socket) => void socket.once('data', () => socket.end(head)));
      const url = await listening(server);
      await using relayed = relay(url);
      relayed.say({ id: 1, method: 'tools/list' });
      const { id, error } = await relayed.next();
      assert.equal(id, 1);
      assert.match(JSON.stringify(error), /answered \d+ without MCP/);
      server.close();
    });
  }

  test('closes the connection when a request is cancelled', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket
        .once('data', ask)
        .once('close', () => resolve())
        .on('error', () => {});
    });
    const url = await listening(server);
    await using relayed = relay(url);
    relayed.say({ id: 1, method: 'tools/call', params: { name: 'wait_for_news' } });
    await asked;
    relayed.say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await left;
    server.close();
    assert.equal(await relayed.close(), 0);
  });

  test('passes on a problem document as the reason why the gateway does not answer', async () => {
    const detail = 'Cannot answer yet: it is waking.';
    const problem = JSON.stringify({ status: 503, detail, code: 'unavailable' });
    const head = `HTTP/1.1 503 Service Unavailable\r\nContent-Length: ${problem.length}\r\n\r\n`;
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(head + problem));
    });
    const url = await listening(server);
    await using relayed = relay(url);
    relayed.say({ id: 'a', method: 'tools/list' });
    assert.deepEqual(await relayed.next(), {
      jsonrpc: '2.0',
      id: 'a',
      error: { code: -32_000, message: detail },
    });
    relayed.say({ method: 'notifications/initialized' });
    const said: unknown[] = await once(relayed.child.stderr ?? relayed.child, 'data');
    assert.equal(String(said[0]), `${detail}\n`);
    server.close();
  });

  test('ends when nobody reads its answers', async () => {
    const server = createServer();
    const url = await listening(server);
    server.close();
    await using relayed = relay(url);
    relayed.child.stdout?.destroy();
    // The relay notices only when it writes.
    relayed.say({ id: 1, method: 'tools/list' });
    relayed.say({ id: 2, method: 'tools/list' });
    const ended: unknown[] = await once(relayed.child, 'exit');
    assert.equal(ended[0], 0);
  });

  test('refuses an address that is not a URL', async () => {
    await using relayed = relay('nowhere');
    const said: unknown[] = await once(relayed.child.stderr ?? relayed.child, 'data');
    assert.match(String(said[0]), /must be the address of a gateway/);
  });
});
