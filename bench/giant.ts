/**
 * One entry of any size: `node giant.ts send URL BYTES` leaves it in the garden, `node giant.ts read
 * URL` reads an entry. Both say as JSON how many bytes the visitor's members had and their SHA-256.
 * The text is made on the way: neither side ever has it whole.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';

import { dice } from './garden.ts';
import { answerTo } from './http.ts';

interface Told {
  /** Path of the entry, where it was sent. */
  readonly location: string;
  readonly bytes: number;
  readonly sha256: string;
}

const OPENING = '"text":"';
const CLOSING = '","identity":"visitor-0001","identityType":"ai_entity"}';
const BLOCK = 1 << 20;
const NUMBER = 16;

const [mode, address = '', size = '0'] = process.argv.slice(2);
const began = performance.now();
const told = mode === 'send' ? await send(new URL(address), Number(size)) : await read(address);
const seconds = (performance.now() - began) / 1000;
console.log(JSON.stringify({ ...told, seconds }));

async function send(url: URL, size: number): Promise<Told> {
  const length = 1 + OPENING.length + size + CLOSING.length;
  const socket = connect(Number(url.port), url.hostname);
  const answer = collect(socket);
  // Awaited below, where there is time for it.
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
    // Each block begins with its own number, so that a lost or swapped one would show.
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

/** All that a socket says until it ends. */
async function collect(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(socket, 'close');
  return text;
}

/** Letters of one, two and three bytes and an escape here and there, whole ones only. */
function block(): Buffer {
  const letters = 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 .,;:!?-';
  const words = ['мова', 'сну', '夢', String.raw`\n`, String.raw`\u0434`];
  const random = dice(17);
  const bytes = Buffer.alloc(BLOCK - NUMBER, '.');
  for (let at = 0; at < bytes.length - 12;) {
    const word = random(40) === 0 ? words[random(words.length)] : letters[random(letters.length)];
    at += bytes.write(word ?? '.', at);
  }
  return bytes;
}

async function read(address: string): Promise<Told> {
  const answer = await answerTo(get(address));
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
