/**
 * Readers of an event stream who count what they get: `node subscribers.ts URL COUNT`. Bare sockets
 * with one buffer for all, in a process of their own, so that they take little from what is
 * measured. Sends 0 when all are connected. Told how many entries of the gardener are out by now, it
 * sends that number when each reader has all of them, once each; otherwise it ends with an error.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Reader {
  connected: boolean;
  count: number;
  /** Of the numbers of all entries that came: with the count, it shows a lost or repeated one. */
  sum: number;
  /** A line of which the end is still to come. */
  cut: Buffer | undefined;
}

const NUMBER_FOLLOWS = Buffer.from('"text":"Trace ');
const FRAME_END = Buffer.from('\n\n');
const [NEWLINE, ZERO, NINE] = [10, 48, 57];
/** More at once could overflow the queue in which the kernel keeps new connections. */
const CONNECTED_TOGETHER = 100;
const PATIENCE_MS = 60_000;

const [address = '', count = ''] = process.argv.slice(2);
const url = new URL(address);
const buffer = Buffer.allocUnsafe(1 << 16);
const readers: Reader[] = [];
let goal = 0;
let short = 0;
let patience: NodeJS.Timeout | undefined;

await connectAll(Number(count));
process.on('message', pursue);
process.send?.(0);

async function connectAll(wanted: number): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (readers.length < wanted) {
    const size = Math.min(CONNECTED_TOGETHER, wanted - readers.length);
    await Promise.all(Array.from({ length: size }, open));
    while (!readers.every(({ connected }) => connected)) {
      if (performance.now() > until) throw new Error(`Cannot connect all to ${address}`);
      await sleep(5);
    }
  }
}

async function open(): Promise<void> {
  const reader: Reader = { connected: false, count: 0, sum: 0, cut: undefined };
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

function take(reader: Reader, fresh: Buffer): void {
  const piece = reader.cut === undefined ? fresh : Buffer.concat([reader.cut, fresh]);
  if (!reader.connected) greet(reader, piece);
  const end = piece.lastIndexOf(NEWLINE) + 1;
  // A copy: the next piece will overwrite this one.
  reader.cut = end === piece.length ? undefined : Buffer.from(piece.subarray(end));
  const before = reader.count;
  let at = piece.indexOf(NUMBER_FOLLOWS);
  while (at >= 0 && at < end) {
    const digits = at + NUMBER_FOLLOWS.length;
    reader.count += 1;
    reader.sum += numberAt(piece, digits);
    at = piece.indexOf(NUMBER_FOLLOWS, digits);
  }
  if (before < goal && reader.count >= goal) {
    short -= 1;
    if (short === 0) settle();
  }
}

/** The first frame, or comment, shows that the stream is open. */
function greet(reader: Reader, piece: Buffer): void {
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

function pursue(told: unknown): void {
  goal = Number(told);
  short = readers.filter((reader) => reader.count < goal).length;
  patience = setTimeout(() => {
    throw new Error(`Cannot trust ${address}: ${short} readers lack some of ${goal} entries`);
  }, PATIENCE_MS);
  if (short === 0) settle();
}

function settle(): void {
  clearTimeout(patience);
  const sum = (goal * (goal + 1)) / 2;
  const wrong = readers.find((reader) => reader.count !== goal || reader.sum !== sum);
  if (wrong !== undefined) {
    throw new Error(
      `Cannot trust ${address}: of ${goal} entries a reader got ${wrong.count}, their numbers add up to ${wrong.sum} instead of ${sum}`,
    );
  }
  process.send?.(goal);
}
