/**
 * Readers of an event stream that count entries: `node subscribers.ts URL COUNT`. Bare sockets that
 * share one buffer, so that they take little CPU time from what is measured. Sends the message 0
 * when all are connected. On a message with the number of entries posted so far, sends that number
 * back once each reader has received each of them exactly once; otherwise exits with an error.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Reader {
  connected: boolean;
  count: number;
  /** Of the numbers in the entries: together with the count it reveals a lost or repeated one. */
  sum: number;
  /** The start of a line whose end has not arrived. */
  partialLine: Buffer | undefined;
}

const NUMBER_FOLLOWS = Buffer.from('"text":"Trace ');
const FRAME_END = Buffer.from('\n\n');
const [NEWLINE, ZERO, NINE] = [10, 48, 57];
/** More at once could overflow the kernel's accept queue. */
const CONNECT_BATCH = 100;
const TIMEOUT_MS = 60_000;

const [address = '', count = ''] = process.argv.slice(2);
const url = new URL(address);
const buffer = Buffer.allocUnsafe(1 << 16);
const readers: Reader[] = [];
let goal = 0;
let behind = 0;
let timeout: NodeJS.Timeout | undefined;

await connectAll(Number(count));
process.on('message', setGoal);
process.send?.(0);

async function connectAll(wanted: number): Promise<void> {
  const until = performance.now() + TIMEOUT_MS;
  while (readers.length < wanted) {
    const size = Math.min(CONNECT_BATCH, wanted - readers.length);
    await Promise.all(Array.from({ length: size }, open));
    while (!readers.every(({ connected }) => connected)) {
      if (performance.now() > until) throw new Error(`Cannot connect all to ${address}`);
      await sleep(5);
    }
  }
}

async function open(): Promise<void> {
  const reader: Reader = { connected: false, count: 0, sum: 0, partialLine: undefined };
  readers.push(reader);
  const socket = connect({
    host: url.hostname,
    port: Number(url.port),
    onread: {
      buffer,
      callback(length) {
        take(reader, buffer.subarray(0, length));
        return true;
      },
    },
  });
  socket.once('close', () => {
    throw new Error(`Cannot go on: ${address} closed a stream after ${reader.count} entries`);
  });
  await once(socket, 'connect');
  socket.write(
    `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`,
  );
}

function take(reader: Reader, chunk: Buffer): void {
  const piece =
    reader.partialLine === undefined ? chunk : Buffer.concat([reader.partialLine, chunk]);
  if (!reader.connected) readHead(reader, piece);
  const end = piece.lastIndexOf(NEWLINE) + 1;
  // A copy, since the buffer is reused.
  reader.partialLine = end === piece.length ? undefined : Buffer.from(piece.subarray(end));
  const before = reader.count;
  let at = piece.indexOf(NUMBER_FOLLOWS);
  while (at >= 0 && at < end) {
    const digits = at + NUMBER_FOLLOWS.length;
    reader.count += 1;
    reader.sum += numberAt(piece, digits);
    at = piece.indexOf(NUMBER_FOLLOWS, digits);
  }
  if (before < goal && reader.count >= goal) {
    behind -= 1;
    if (behind === 0) checkAll();
  }
}

/** The stream is open once the first frame or comment has arrived. */
function readHead(reader: Reader, piece: Buffer): void {
  const status = /^HTTP\/1\.1 (\d+)/.exec(piece.toString('latin1', 0, 12))?.[1] ?? '200';
  if (status !== '200') throw new Error(`Cannot follow ${address}: got ${piece.toString()}`);
  reader.connected = piece.includes(FRAME_END);
}

function numberAt(piece: Buffer, from: number): number {
  let number = 0;
  for (let at = from; ; at += 1) {
    const digit = piece[at] ?? 0;
    if (digit < ZERO || digit > NINE) return number;
    number = number * 10 + digit - ZERO;
  }
}

function setGoal(message: unknown): void {
  goal = Number(message);
  behind = readers.filter((reader) => reader.count < goal).length;
  timeout = setTimeout(() => {
    throw new Error(`Cannot trust ${address}: ${behind} readers lack some of ${goal} entries`);
  }, TIMEOUT_MS);
  if (behind === 0) checkAll();
}

function checkAll(): void {
  clearTimeout(timeout);
  const sum = (goal * (goal + 1)) / 2;
  const wrong = readers.find((reader) => reader.count !== goal || reader.sum !== sum);
  if (wrong !== undefined) {
    throw new Error(
      `Cannot trust ${address}: of ${goal} entries a reader got ${wrong.count}, their numbers add up to ${wrong.sum} instead of ${sum}`,
    );
  }
  process.send?.(goal);
}
