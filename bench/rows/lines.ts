/** Durable POST of many entries in one request, beside as many pipelined commands of Redis. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { headOf, responseOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { startWebdis } from '../peers/webdis.ts';
import { startGateway } from '../processes/gateway.ts';
import { alternate } from '../measure/rounds.ts';
import { atLeast, type ResultLine } from '../measure/table.ts';
import { assertAllStored } from './post.ts';

const TARGET = 0.5;
const ENTRIES = 1000;
const CONNECTIONS = 4;
const NEWLINE = 0x0a;
/** Begins the reply to a command that failed. */
const MINUS = 0x2d;
/** The stored id: its length, and itself. */
const LINES_OF_REDIS = 2;

/** Sends the entries over one connection. Resolves when all are durable. */
type SendEntries = () => Promise<void>;

export async function lines(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using redisFolder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await using webdis = await startWebdis(bench, redisFolder.path);
  const next = gardenEntries();
  const entries = Array.from({ length: ENTRIES }, () => JSON.stringify(next()));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const body = entries.map((entry) => `${entry}\n`).join('');
  const ours = Array.from(
    { length: CONNECTIONS },
    () => () => postLines(`${gateway.url}/api/garden`, agent, body),
  );
  const commands = Buffer.from(entries.map(xadd).join(''));
  const peers = Array.from({ length: CONNECTIONS }, () => pipeline(webdis.redisPort, commands));
  const sent = { ours: 0, peer: 0 };
  const round = async (name: 'ours' | 'peer'): Promise<number> => {
    const { count, seconds } = await repeat(
      name === 'ours' ? ours : peers.map(({ send }) => send),
      bench.quick ? 500 : 3000,
    );
    sent[name] += count;
    if (name === 'ours') await waitUntilIndexed(bench, gateway.url);
    return count / seconds;
  };
  bench.note(`POST of ${ENTRIES} entries a request`);
  const sides = { ours: () => round('ours'), peer: () => round('peer') };
  await alternate(1, sides);
  const rounds = await alternate(bench.quick ? 3 : 5, sides);
  assertAllStored(await headOf(gateway.url), sent.ours, 0);
  assertAllStored(await webdis.length(), sent.peer, 0);
  agent.destroy();
  for (const { close } of peers) close();
  const label = `durable POST, ${ENTRIES} entries a request, beside pipelined XADD`;
  return [atLeast(label, rounds, 'entries/s', TARGET)];
}

/** Sends over all connections, again and again for that time. */
async function repeat(
  connections: readonly SendEntries[],
  ms: number,
): Promise<{ count: number; seconds: number }> {
  const start = performance.now();
  let count = 0;
  const sendAll = async (send: SendEntries): Promise<void> => {
    while (performance.now() - start < ms) {
      await send();
      count += ENTRIES;
    }
  };
  await Promise.all(connections.map(sendAll));
  return { count, seconds: (performance.now() - start) / 1000 };
}

async function postLines(url: string, agent: Agent, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const sent = request(url, { agent, method: 'POST', headers });
  sent.end(body);
  const response = await responseOf(sent);
  response.setEncoding('latin1');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const stored = text.match(/"status":201/g)?.length ?? 0;
  if (stored !== ENTRIES) throw new Error(`Cannot store all entries: ${text.slice(0, 500)}`);
}

function xadd(entry: string): string {
  return `*5\r\n$4\r\nXADD\r\n$6\r\ngarden\r\n$1\r\n*\r\n$5\r\nentry\r\n$${entry.length}\r\n${entry}\r\n`;
}

function pipeline(port: number, commands: Buffer): { send: SendEntries; close: () => void } {
  const socket = connect(port, '127.0.0.1');
  const send = async (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = ENTRIES * LINES_OF_REDIS;
    const receive = (replies: Buffer): void => {
      if (replies[0] === MINUS) reject(new Error(`Cannot append: ${replies.toString()}`));
      for (const byte of replies) if (byte === NEWLINE) left -= 1;
      if (left === 0) resolve();
    };
    socket.on('data', receive).once('error', reject);
    socket.write(commands);
    await promise;
    socket.off('data', receive).off('error', reject);
  };
  return { send, close: () => void socket.destroy() };
}
