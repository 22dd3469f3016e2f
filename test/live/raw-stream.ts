/** Event streams over a bare socket, which can be cut at any byte, or left unread. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { Frames, type Frame } from '../../conformance/event-stream.ts';

/** A connection on which a stream was asked for. Nobody reads it so far. */
export async function ask(
  url: string,
  path: string,
  headers: readonly string[] = [],
): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.pause();
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream', ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Takes the head and the chunks off an answer, in whatever pieces it comes. */
export class Dechunker {
  /** Whether the last chunk has come. */
  ended = false;
  #held: Buffer = Buffer.alloc(0);
  #state: 'head' | 'size' | 'data' = 'head';
  #left = 0;

  /** The parts of the body that are in this piece. */
  push(piece: Buffer): Buffer[] {
    const body: Buffer[] = [];
    let bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    for (;;) {
      if (this.#state === 'data') {
        const part = bytes.subarray(0, this.#left);
        if (part.length > 0) body.push(part);
        bytes = bytes.subarray(part.length);
        this.#left -= part.length;
        if (this.#left > 0) break;
        this.#state = 'size';
      }
      const mark = this.#state === 'head' ? '\r\n\r\n' : '\r\n';
      // What ends a chunk's data stands before the size of the next one.
      const from = this.#state === 'size' && bytes[0] === 0x0d ? 2 : 0;
      const end = bytes.indexOf(mark, from);
      if (end < 0) break;
      const line = bytes.toString('latin1', from, end);
      bytes = bytes.subarray(end + mark.length);
      if (this.#state === 'head') {
        assert.match(line, /^HTTP\/1\.1 200 /);
        assert.match(line, /\r\ntransfer-encoding: chunked/i);
        this.#state = 'size';
        continue;
      }
      assert.match(line, /^[0-9a-f]+$/i);
      this.#left = Number.parseInt(line, 16);
      this.ended ||= this.#left === 0;
      this.#state = 'data';
      if (this.ended) break;
    }
    this.#held = Buffer.from(bytes);
    return body;
  }
}

/** What a client has understood of a stream until it was cut. */
export class Understood {
  readonly frames: Frame[] = [];
  readonly #dechunker = new Dechunker();
  readonly #cutter = new Frames();

  push(piece: Buffer): void {
    for (const part of this.#dechunker.push(piece)) this.frames.push(...this.#cutter.push(part));
  }

  get ended(): boolean {
    return this.#dechunker.ended;
  }

  /** The id that a client would resume from. */
  get lastId(): string | undefined {
    return this.frames.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The data of the entries. */
  get entries(): string[] {
    return this.frames
      .filter(({ event, data }) => event !== 'head' && data !== undefined)
      .map(({ data = '' }) => data);
  }
}

/** Reads until this many bytes have come, or what was understood is enough, then cuts the line. */
export async function readUntil(
  socket: Socket,
  bytes: number,
  enough: (understood: Understood) => boolean = () => false,
): Promise<Understood> {
  const understood = new Understood();
  let left = bytes;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    understood.push(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0 || understood.ended || enough(understood)) break;
  }
  socket.resetAndDestroy();
  return understood;
}
