// Readers who open a stream and then read nothing, while much is said.
// PRESENCE_STALLED opens more of them.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';

import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { allEntries } from './restartable-gateway.ts';
import { ask, Dechunker } from './raw-stream.ts';
import { residentOf } from './resident.ts';

const STATUS_LINE = 'HTTP/1.1 201 ';
const MIB = 1024 * 1024;
/** With 300, the operating system would run out of memory for connections, and all become slow. */
const STREAMS = Number(process.env['PRESENCE_STALLED'] ?? 200);
const READ_ONE_IN = 20;
/** Three times as much as the operating system stores for a connection: 4 MiB. */
const ENTRIES = 12_000;
const TEXT = 'Ти тут? '.repeat(60);
/** How often the same amount is said first: the process grows by that too, without any reader. */
const WARM = 4;
/** Connections over which entries are said, and how many at once over each. */
const WRITERS = 8;
const AHEAD = 16;
/** What a reader that stalls may cost. Bytes in a queue of its own would cost megabytes. */
const EACH = 16 * 1024;
/** What the threads may hold of what they no longer need, at most. */
const SLACK = 96 * MIB;

test('readers who stall cost little, hold up nobody, and miss nothing', async (context) => {
  await using gateway = await startGatewayProcess({
    env: { NODE_OPTIONS: '--max-semi-space-size=4' },
  });
  using visitor = new Gateway(gateway.url);
  const speak = (from: number): Promise<void> =>
    say(gateway.url, ENTRIES, (at) => traceBody('Lumen', { text: TEXT, at: from + at }));
  for (let round = 0; round < WARM; round += 1) await speak(0);
  const sockets: Socket[] = [];
  using _ = {
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
  for (let count = 0; count < STREAMS; count += 1) {
    sockets.push(await ask(gateway.url, '/api/events'));
  }
  await visitor.get('/healthz');
  const idle = await residentOf(gateway.pid);
  await speak(ENTRIES);
  // What was written and is no longer needed is collected some seconds later; a queue would stay.
  const grown = await until(
    async () => (await residentOf(gateway.pid)) - idle,
    (bytes) => bytes < STREAMS * EACH + SLACK,
  );
  context.diagnostic(
    `${STREAMS} stalled streams: the process grew by ${(grown / MIB).toFixed(1)} MiB`,
  );

  const wanted = (await allEntries(gateway.url)).slice(-ENTRIES);
  assert.equal(wanted.length, ENTRIES);
  const frames = wanted.map(
    ({ seq, kind, text }) => `id: ${seq}\nevent: ${kind}\ndata: ${text}\n\n`,
  );
  const bytes = Buffer.from(frames.join(''));
  const expected = hash('sha256', bytes);
  for (const [at, socket] of sockets.entries()) {
    // Reading all that all have waited for would take a minute.
    if (at % READ_ONE_IN !== 0) continue;
    const found = await entriesOf(socket, bytes.length);
    assert.equal(hash('sha256', found), expected, `what reader ${at} missed`);
  }
});

/** Says garden entries, some at once over each connection. */
async function say(url: string, count: number, body: (at: number) => string): Promise<void> {
  const left = Array.from({ length: count }, (_, at) => at);
  const writers = Array.from({ length: WRITERS }, async () => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const answers = answersOf(socket);
    while (left.length > 0) {
      const bodies = left.splice(0, AHEAD).map(body);
      socket.write(bodies.map((said) => requestOf(url, said)).join(''));
      for (const _ of bodies) assert.equal((await answers.next()).value, '201');
    }
    socket.destroy();
  });
  await Promise.all(writers);
}

function requestOf(url: string, body: string): string {
  const { host } = new URL(url);
  const length = Buffer.byteLength(body);
  return `POST /api/garden HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/** The status of each answer. */
async function* answersOf(socket: Socket): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const piece of socket as AsyncIterable<Buffer>) {
    rest += piece.toString('latin1');
    let from = 0;
    for (const found of rest.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      from = found.index + found[0].length;
      yield found[1] ?? '';
    }
    rest = rest.slice(from).slice(-STATUS_LINE.length);
  }
}

/** Reads this many bytes after the beginning, without the comments, and goes away. */
async function entriesOf(socket: Socket, length: number): Promise<Buffer> {
  const dechunker = new Dechunker();
  const parts: Buffer[] = [];
  let size = 0;
  let begun = false;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    for (const part of dechunker.push(piece)) {
      parts.push(part);
      size += part.length;
    }
    if (!begun) {
      const start = Buffer.concat(parts);
      const head = start.indexOf('event: head');
      const end = start.indexOf('\n\n', head);
      if (head < 0 || end < 0) continue;
      const rest = start.subarray(end + 2);
      parts.splice(0, parts.length, rest);
      size = rest.length;
      begun = true;
    }
    if (size < length) continue;
    const entries = withoutComments(Buffer.concat(parts));
    parts.splice(0, parts.length, entries);
    size = entries.length;
    if (size >= length) break;
  }
  socket.destroy();
  return Buffer.concat(parts).subarray(0, length);
}

/** Nothing else begins a line with a colon. */
function withoutComments(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x3a && !bytes.includes('\n:\n')) return bytes;
  return Buffer.from(bytes.toString('latin1').replaceAll(/^:\n\n/gm, ''), 'latin1');
}
