// Very many at once: who only listen, who stop in the middle, and more than there is room for.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { EventStream } from '../../conformance/event-stream.ts';
import { uniqueName, Gateway, traceBody } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { allEntries } from './restartable-gateway.ts';
import { ask } from './raw-stream.ts';
import { residentOf } from './resident.ts';
import { needs } from '../needs.ts';
import { pluck } from '../../conformance/value.ts';

const MIB = 1024 * 1024;
const STREAMS = 10_000;
/** Descriptors that a process needs for everything but its connections. */
const OWN_DESCRIPTORS = 500;
const UPLOADS = 1000;

test('very many who only listen keep nobody from speaking, and hear it', async (context) => {
  const limit = await descriptors();
  const count = Math.min(STREAMS, limit - OWN_DESCRIPTORS);
  await using gateway = await startGatewayProcess();
  using visitor = new Gateway(gateway.url);
  const start = await residentOf(gateway.pid);
  await using listeners = crowd();
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      while (listeners.sockets.length < count) {
        listeners.add(ask(gateway.url, '/api/events?kind=shepit'));
        await listeners.sockets.at(-1);
      }
    }),
  );
  for (let at = 0; at < 100; at += 1) {
    const { entry } = await visitor.contribute('garden', traceBody('Lumen', { at }));
    assert.equal((await visitor.read(entry.path)).text, entry.text);
  }
  const { entry } = await visitor.contribute('shepit', '{"text":"усім"}');
  const heard = listeners.sockets.map(async (asked) => {
    await hears(await asked, entry.id);
  });
  await Promise.all(heard);
  const grown = (await residentOf(gateway.pid)) - start;
  context.diagnostic(`${count} streams (${limit} descriptors): ${(grown / MIB).toFixed(1)} MiB`);
});

test('uploads that stop in the middle hold up nobody, and go on whenever they like', async () => {
  await using gateway = await startGatewayProcess();
  using visitor = new Gateway(gateway.url);
  await using uploads = crowd();
  const body = (at: number): string =>
    traceBody(`visitor ${at}`, { text: 'x'.repeat(at % 20 === 0 ? 200_000 : 500) });
  for (let at = 0; at < UPLOADS; at += 1) {
    const text = body(at);
    uploads.add(begin(gateway.url, text.length, text.slice(0, text.length >> 1)));
    await uploads.sockets.at(-1);
  }
  for (let at = 0; at < 200; at += 1) await visitor.contribute('seeds', traceBody('Lumen', { at }));
  assert.equal((await allEntries(gateway.url)).length, 200);
  const goingOn = uploads.sockets.map(async (begun, at) => {
    const socket = await begun;
    if (at % 2 === 1) {
      socket.resetAndDestroy();
      return;
    }
    const text = body(at);
    socket.write(text.slice(text.length >> 1));
    await hears(socket, '201 Created');
  });
  await Promise.all(goingOn);
  const { entries } = await visitor.list('/api/garden?order=oldest');
  const said = entries.map(({ fields }) => String(fields['identity'])).toSorted();
  const wanted = Array.from({ length: UPLOADS / 2 }, (_, at) => `visitor ${at * 2}`);
  assert.deepEqual(said, wanted.toSorted());
});

test(
  'without descriptors left, those who are in go on, and others come in when some leave',
  needs('prlimit'),
  async () => {
    await using folder = await dataFolder();
    const data = folder.path;
    const said: string[] = [];
    {
      const under = ['prlimit', '--nofile=300:300'];
      await using gateway = await startGatewayProcess({ data, under });
      using visitor = new Gateway(gateway.url);
      const say = async (size: number): Promise<void> => {
        const { json } = (
          await visitor.post('garden', traceBody(uniqueName(), { text: 'x'.repeat(size) }))
        ).expect(201);
        said.push(String(json['id']));
      };
      await say(10);
      const stream = await EventStream.open(visitor, '/api/events');
      {
        await using others = crowd();
        for (let count = 0; count < 600; count += 1) others.add(knock(gateway.url));
        for (let count = 0; count < 50; count += 1) {
          await say(count % 10 === 0 ? 200_000 : 100);
          assert.equal((await visitor.list('/api/garden?limit=1')).entries[0]?.id, said.at(-1));
          assert.equal((await visitor.read(`/api/entries/${said[0]}`)).id, said[0]);
        }
        assert.deepEqual(pluck(await stream.take(50), 'id'), said.slice(1));
      }
      stream.close();
      await newVisitor(gateway.url);
      await gateway.kill();
    }
    await using gateway = await startGatewayProcess({ data });
    const kept = (await allEntries(gateway.url)).map(({ id }) => id);
    assert.deepEqual(kept.slice(0, said.length), said);
  },
);

interface Crowd extends AsyncDisposable {
  readonly sockets: Promise<Socket>[];
  add(socket: Promise<Socket>): void;
}

/** Connections that are closed on disposal. */
function crowd(): Crowd {
  const sockets: Promise<Socket>[] = [];
  return {
    sockets,
    add: (socket) => void sockets.push(socket),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) (await socket).destroy();
    },
  };
}

/** How many files a process may have open. */
async function descriptors(): Promise<number> {
  const { stdout } = await promisify(execFile)('bash', ['-c', 'ulimit -n']);
  return stdout.trim() === 'unlimited' ? Infinity : Number(stdout);
}

/** A connection on which nothing is said; whether it was let in is not known. */
async function knock(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect({ host: hostname, port: Number(port) }).on('error', () => {});
  socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket));
  return await promise;
}

/** Sends the beginning of a body. */
async function begin(url: string, length: number, text: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.write(
    `POST /api/garden HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n${text}`,
  );
  return socket;
}

async function hears(socket: Socket, text: string): Promise<void> {
  let heard = '';
  for await (const piece of socket as AsyncIterable<Buffer>) {
    heard += piece.toString('latin1');
    if (heard.includes(text)) return;
  }
  assert.fail(`the connection ended, and all that came is ${heard.slice(0, 1000)}`);
}

/** Resolves when somebody who was not there before is let in. */
async function newVisitor(url: string): Promise<void> {
  await until(
    async () => {
      using visitor = new Gateway(url);
      return await visitor.contribute('seeds', traceBody('newcomer')).then(
        () => undefined,
        (error: unknown) => error,
      );
    },
    (error) => error === undefined,
  );
}
