/**
 * One entry of any size: `node large-entry.ts send URL BYTES` POSTs a garden entry, `node
 * large-entry.ts read URL` reads an entry. Both print as JSON the size of the visitor's members and
 * their SHA-256. The text is generated and read as a stream.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';

import { seededRandom } from '../data/garden-entries.ts';
import { responseOf } from './http.ts';

interface Transfer {
  /** Path of the entry; empty after reading. */
  readonly location: string;
  readonly bytes: number;
  readonly sha256: string;
}

const OPENING = '"text":"';
const CLOSING = '","identity":"visitor-0001","identityType":"ai_entity"}';
const BLOCK = 1 << 20;
const NUMBER = 16;

const [mode, address = '', size = '0'] = process.argv.slice(2);
const startedAt = performance.now();
const transfer = mode === 'send' ? await send(new URL(address), Number(size)) : await read(address);
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({ ...transfer, seconds }));

async function send(url: URL, size: number): Promise<Transfer> {
  const length = 1 + OPENING.length + size + CLOSING.length;
  const socket = connect(Number(url.port), url.hostname);
  const answer = collect(socket);
  // It is awaited below; until then a rejection is no error.
  answer.catch(() => undefined);
  const hash = createHash('sha256');
  const put = async (...pieces: readonly Buffer[]): Promise<void> => {
    socket.cork();
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
    for (const piece of pieces) hash.update(piece);
    if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), answer]);
  };
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n{`,
  );
  await put(Buffer.from(OPENING));
  const rest = block();
  for (let left = size; left > 0 && !socket.destroyed; left -= BLOCK) {
    // Each block starts with its number, so that a lost or swapped one is detected.
    const number = Buffer.from(String(left).padStart(NUMBER, '.'));
    if (left >= BLOCK) await put(number, rest);
    else await put(Buffer.alloc(left, '.'));
  }
  await put(Buffer.from(CLOSING));
  const text = await answer;
  const status = Number(text.slice(9, 12));
  if (status !== 201) throw new Error(`Cannot send ${size} bytes: ${text.slice(0, 2000)}`);
  const location = /^location: (.*)\r$/im.exec(text)?.[1] ?? '';
  return { location, bytes: length - 1, sha256: hash.digest('hex') };
}

/** Everything received until the socket closes. */
async function collect(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(socket, 'close');
  return text;
}

/** Whole characters of one, two and three bytes, and some escapes. */
function block(): Buffer {
  const letters = 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 .,;:!?-';
  const words = ['мова', 'сну', '夢', String.raw`\n`, String.raw`\u0434`];
  const random = seededRandom(17);
  const bytes = Buffer.alloc(BLOCK - NUMBER, '.');
  for (let at = 0; at < bytes.length - 12;) {
    const word = random(40) === 0 ? words[random(words.length)] : letters[random(letters.length)];
    at += bytes.write(word ?? '.', at);
  }
  return bytes;
}

async function read(address: string): Promise<Transfer> {
  const answer = await responseOf(get(address));
  if (answer.statusCode !== 200)
    throw new Error(`Cannot read ${address}: got ${answer.statusCode}`);
  const hash = createHash('sha256');
  let bytes = 0;
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of answer) {
    let piece = Buffer.from(chunk);
    if (start !== undefined) {
      start = Buffer.concat([start, piece]);
      const at = start.indexOf(OPENING);
      if (at < 0) continue;
      piece = start.subarray(at);
      start = undefined;
    }
    bytes += piece.length;
    hash.update(piece);
  }
  return { location: '', bytes, sha256: hash.digest('hex') };
}
