/** Reads `multipart/form-data` (RFC 7578): each part is a field, a file too. */
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { Busboy } from '@fastify/busboy';

import type { FieldHandler } from './form-members.ts';

/** What is wrong with a body that is not `multipart/form-data`. */
export class MultipartError extends Error {}

const NO_NAME = 'a part has no name: each needs Content-Disposition: form-data; name="…"';
const NO_END = 'it has no last boundary: a line with two hyphens, the boundary and two hyphens';
const NO_BOUNDARY = '"Content-Type" must name the boundary, as in multipart/form-data; boundary=X';
const EMPTY = Buffer.alloc(0);
/** Browsers write these characters of a name as escapes (HTML standard). */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

interface Part {
  readonly name: string | undefined;
  readonly content: Readable;
  isOpen: boolean;
}

/** Passes fields to the handler, a piece with each step. Throws a `MultipartError`, and what `chunks` throws. */
export async function* readMultipart(
  chunks: AsyncIterable<Buffer>,
  contentType: string,
  handler: FieldHandler,
): AsyncGenerator<void, void, undefined> {
  const parts: Part[] = [];
  const state = { isTaken: true, isOver: false, isFaulty: false };
  const parser = parserOf(contentType);
  parser.on('file', (name: string | undefined, content) => {
    content.on('error', () => {});
    parts.push({ name, content, isOpen: false });
  });
  parser.on('error', () => (state.isFaulty = true));
  parser.on('finish', () => (state.isOver = true));
  for await (const chunk of chunks) {
    state.isTaken = false;
    parser.write(chunk, () => (state.isTaken = true));
    do {
      await nextTurn();
      passOn(parts, handler);
      yield;
    } while (!state.isTaken);
  }
  parser.end();
  do {
    await nextTurn();
    passOn(parts, handler);
    yield;
  } while (!state.isFaulty && (!state.isOver || parts.length > 0));
  if (state.isFaulty) throw new MultipartError(NO_END);
}

/** Every part is a file to it: it holds the whole value of any other. */
function parserOf(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => true });
  } catch {
    throw new MultipartError(NO_BOUNDARY);
  }
}

/** Passes on what has arrived of the parts, in their order. */
function passOn(parts: Part[], handler: FieldHandler): void {
  for (let [part] = parts; part !== undefined; [part] = parts) {
    const { name, content } = part;
    if (name === undefined) throw new MultipartError(NO_NAME);
    if (!part.isOpen) {
      handler.name(
        Buffer.from(name.replaceAll(/%(?:22|0D|0A)/g, (escape) => ESCAPES[escape] ?? '')),
      );
      handler.value(EMPTY);
      part.isOpen = true;
    }
    for (;;) {
      const piece: unknown = content.read();
      if (!(piece instanceof Uint8Array)) break;
      handler.value(piece);
    }
    if (!content.readableEnded) return;
    handler.endField();
    parts.shift();
  }
}
