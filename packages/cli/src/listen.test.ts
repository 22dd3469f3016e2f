import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import {
  dataFolder,
  startGatewayProcess,
  type GatewayProcess,
} from '../../../test/gateway-process.ts';
import { needs } from '../../../test/needs.ts';

/** A request on a connection of its own. */
async function send(options: RequestOptions, body?: string): Promise<IncomingMessage> {
  const sent = request({ agent: false, method: body === undefined ? 'GET' : 'POST', ...options });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

suite('a gateway on a UNIX socket', () => {
  test('answers any user of the machine, and removes the socket when it stops', async () => {
    await using folder = await dataFolder();
    const socketPath = join(folder.path, 'socket');
    await using gateway = await startGatewayProcess({ args: ['--listen', `unix:${socketPath}`] });
    assert.equal(gateway.url, `unix:${socketPath}`);
    assert.equal(statSync(socketPath).mode & 0o777, 0o666);
    const said = await send({ socketPath, path: '/api/shepit' }, '{"text":"here"}');
    assert.equal(said.statusCode, 201);
    assert.match(await text(said), /"text":"here"/);
    const listed = (await json(await send({ socketPath, path: '/api/entries' }))) as object;
    assert.equal(Reflect.get(listed, 'head'), 1);
    assert.deepEqual(await gateway.stop(), { code: 0, signal: null });
    assert.ok(!existsSync(socketPath));
  });

  test('links to itself by the Host of a request, and to localhost without one', async () => {
    await using folder = await dataFolder();
    const socketPath = join(folder.path, 'socket');
    await using _gateway = await startGatewayProcess({ args: ['--listen', `unix:${socketPath}`] });
    const path = '/api/entries.atom';
    const named = await send({ socketPath, path, headers: { Host: 'presence.localhost' } });
    assert.match(await text(named), /href="http:\/\/presence\.localhost\//);
    const unusable = await send({ socketPath, path, headers: { Host: '' } });
    assert.match(await text(unusable), /href="http:\/\/localhost\//);
  });

  test('replaces the socket of a killed gateway, and nothing else', async () => {
    await using folder = await dataFolder();
    const socketPath = join(folder.path, 'socket');
    const args = ['--listen', `unix:${socketPath}`];
    await using first = await startGatewayProcess({ args });
    await assert.rejects(startGatewayProcess({ args }), /Cannot listen on unix:.*: it is in use/);
    await first.kill();
    assert.ok(existsSync(socketPath));
    await using _second = await startGatewayProcess({ args });
    assert.equal((await send({ socketPath, path: '/healthz' })).statusCode, 200);
    const file = join(folder.path, 'file');
    await writeFile(file, 'kept');
    const onFile = startGatewayProcess({ args: ['--listen', `unix:${file}`] });
    await assert.rejects(onFile, /a file that is not a socket/);
    const nowhere = startGatewayProcess({ args: ['--listen', `unix:${file}s/socket`] });
    await assert.rejects(nowhere, /its folder does not exist/);
  });
});

/**
 * Listens as systemd does for a socket unit: it holds the socket, and starts the command again when it
 * has ended. `stdin` passes the socket as `StandardInput=socket` does, `3` by `LISTEN_FDS`.
 */
const HOLDER = `
import os, signal, socket, sys
held = socket.create_server(('127.0.0.1', 0), backlog=1024)
how, command = sys.argv[1], sys.argv[2:]
while True:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.set_inheritable(os.dup2(held.fileno(), 0 if how == 'stdin' else 3), True)
        if how == '3':
            os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
        os.execvp(command[0], command)
    def end(*_):
        os.kill(child, signal.SIGKILL)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
    if os.waitpid(child, 0)[1] != 0:
        break
`;

const held = (how: 'stdin' | '3'): string[] => ['python3', '-c', HOLDER, how];

function newestPid(gateway: GatewayProcess): number {
  return Number(Array.from(gateway.output().matchAll(/"pid":(\d+)/g)).at(-1)?.[1]);
}

suite('a gateway on a socket that systemd holds', needs('python3'), () => {
  test('refuses nobody while it is restarted, with several threads', async () => {
    await using folder = await dataFolder();
    const args = ['--listen', 'fd:0', '--threads', '2'];
    const gateway = await startGatewayProcess({ data: folder.path, under: held('stdin'), args });
    try {
      const { port } = new URL(gateway.url);
      const load = { stopped: false, said: 0 };
      const caller = async (): Promise<void> => {
        while (!load.stopped) {
          const answer = await send({ port, path: '/api/seeds' }, '{"text":"here"}');
          assert.equal(answer.statusCode, 201);
          answer.resume();
          load.said += 1;
        }
      };
      const callers = Promise.all(Array.from({ length: 8 }, caller));
      for (let restart = 0; restart < 2; restart += 1) {
        const before = load.said;
        while (load.said < before + 100)
          await Promise.race([callers, send({ port, path: '/healthz' })]);
        const starts = gateway.output().split('serving: ').length;
        process.kill(newestPid(gateway), 'SIGTERM');
        while (gateway.output().split('serving: ').length === starts)
          await Promise.race([callers, send({ port, path: '/healthz' })]);
      }
      load.stopped = true;
      await callers;
      const listed = await json(await send({ port, path: '/api/seeds?limit=1' }));
      assert.equal(Reflect.get(Object(listed), 'head'), load.said);
      assert.match(gateway.output(), /"threads":2/);
    } finally {
      await gateway.stop();
    }
  });

  test('learns of the socket from systemd, and serves it with one thread', async () => {
    await using folder = await dataFolder();
    const args = ['--port', '1'];
    const gateway = await startGatewayProcess({ data: folder.path, under: held('3'), args });
    try {
      const { port } = new URL(gateway.url);
      assert.equal((await send({ port, path: '/api' })).statusCode, 200);
      assert.match(gateway.output(), /one thread, since several cannot listen on this socket/);
    } finally {
      await gateway.stop();
    }
  });

  test('does not start on a descriptor that is no listening socket, nor with several sockets', async () => {
    // Node has some of these itself.
    for (const descriptor of [0, 5, 6, 7, 999])
      await assert.rejects(
        startGatewayProcess({ args: ['--listen', `fd:${descriptor}`] }),
        /ended with 1:\nCannot listen on fd:\d+: the process has inherited no listening socket/,
      );
    const under = ['sh', '-c', 'LISTEN_FDS=2 LISTEN_PID=$$ exec "$0" "$@"'];
    await assert.rejects(startGatewayProcess({ under }), /systemd passes 2 sockets/);
  });
});
