/** Writes entries as server-sent events (PROTOCOL.md sections 12.1 and 20.3). */
import type { LogRange } from '../../feed/follow.ts';
import { streamChunk, type StreamChunk } from '../../http/response/event-stream.ts';
import type { Log, Seq } from '../../log/log.ts';
import { checkpointOf } from '../../operations/copy/checkpoint.ts';
import type { Framing } from './fan-out.ts';

/** The first bytes of an entry, which have its seq and kind, and the first bytes of a line of the chain. */
const ENTRY_PREFIX_SIZE = 128;
const CHAIN_PREFIX_SIZE = 384;
/** What stands before the entry in a line of the chain. */
const BEFORE_ENTRY = '"entry":';
/** Where the digits of the seq start: after `{"id":"`, the id and `","seq":`. */
const SEQ_START = 51;
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const EMPTY = Buffer.alloc(0);
const FRAME_END = Buffer.from('\n\n');

/** Whole entries, as they are stored. */
export const ENTRY_FRAMES: Framing = { name: 'entries', frame: frameEntries };

/** Whole entries, each with its link and what that is made of. */
export const CHAIN_FRAMES: Framing = {
  name: 'chain',
  opening: { event: 'checkpoint', position: checkpointOf },
  withoutCases: true,
  async *frame(log, range, size) {
    const framer = new EntryFramer(size, true);
    for await (const piece of log.readChain(range)) yield* framer.add(piece);
    yield* framer.end();
  },
};

/** The entries of a range in chunks of up to `size` bytes. A chunk with a `cursor` ends with a whole entry. */
export async function* frameEntries(
  log: Log,
  range: LogRange,
  size: number,
): AsyncGenerator<StreamChunk, void, undefined> {
  const framer = new EntryFramer(size);
  for await (const piece of log.readText(range, '\n')) yield* framer.add(piece);
  yield* framer.end();
}

/** Turns text with one entry per line, or one line of the chain, into frames. */
class EntryFramer {
  /** Bytes of a chunk at most. */
  readonly #maxSize: number;
  readonly #isChain: boolean;
  readonly #prefixSize: number;
  /** The bytes of the next chunk. */
  #buffer: Buffer = EMPTY;
  #size = 0;
  /** The seq of the entry that the buffer ends with; undefined within an entry. */
  #endedSeq: Seq | undefined;
  /** The seq of the entry that is being read; undefined between entries. */
  #seq: Seq | undefined;
  /** The start of an entry, as long as it is shorter than `#prefixSize`. */
  #prefix: Buffer = EMPTY;

  constructor(maxSize: number, isChain = false) {
    this.#maxSize = maxSize;
    this.#isChain = isChain;
    this.#prefixSize = isChain ? CHAIN_PREFIX_SIZE : ENTRY_PREFIX_SIZE;
  }

  *add(piece: Uint8Array): Generator<StreamChunk, void, undefined> {
    const bytes =
      this.#prefix.length > 0
        ? Buffer.concat([this.#prefix, piece])
        : Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    this.#prefix = EMPTY;
    for (let at = 0; at < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, at);
      const to = newline === -1 ? bytes.length : newline;
      if (newline === -1 && this.#seq === undefined && to - at < this.#prefixSize) {
        this.#prefix = Buffer.from(bytes.subarray(at));
        return;
      }
      yield* this.#addText(bytes, at, to);
      if (newline !== -1) yield* this.#endEntry();
      at = to + 1;
    }
  }

  *end(): Generator<StreamChunk, void, undefined> {
    if (this.#prefix.length > 0) yield* this.#addText(this.#prefix, 0, this.#prefix.length);
    if (this.#seq !== undefined) yield* this.#endEntry();
    if (this.#size > 0) yield this.#takeChunk();
  }

  *#addText(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    if (this.#seq === undefined) yield* this.#startEntry(bytes, from, to);
    yield* this.#write(bytes, from, to);
  }

  *#startEntry(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    const entry = this.#isChain
      ? bytes.indexOf(BEFORE_ENTRY, from, 'latin1') + BEFORE_ENTRY.length
      : from;
    const comma = bytes.indexOf(COMMA, entry + SEQ_START);
    const kindAt = comma + ',"kind":"'.length;
    const kind = bytes.toString('latin1', kindAt, bytes.indexOf(QUOTE, kindAt));
    const seq = bytes.toString('latin1', entry + SEQ_START, comma);
    this.#seq = Number(seq);
    const opening = `id: ${seq}\nevent: ${kind}\ndata: `;
    // An entry that fits into a chunk is not split: a reader that stalls can resume after it.
    const frameSize = opening.length + to - from + FRAME_END.length;
    if (this.#size > 0 && this.#size + frameSize > this.#maxSize) yield this.#takeChunk();
    // Allocated late: many ranges have no entry of the selection.
    if (this.#buffer.length === 0) this.#buffer = Buffer.allocUnsafe(this.#maxSize);
    this.#size += this.#buffer.write(opening, this.#size, 'latin1');
  }

  *#endEntry(): Generator<StreamChunk, void, undefined> {
    yield* this.#write(FRAME_END, 0, FRAME_END.length);
    this.#endedSeq = this.#seq;
    this.#seq = undefined;
  }

  *#write(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    for (let at = from; at < to;) {
      if (this.#size === this.#buffer.length) yield this.#takeChunk();
      const size = Math.min(to - at, this.#buffer.length - this.#size);
      this.#buffer.set(bytes.subarray(at, at + size), this.#size);
      this.#size += size;
      at += size;
      if (this.#size > 0) this.#endedSeq = undefined;
    }
  }

  #takeChunk(): StreamChunk {
    const bytes = this.#buffer.subarray(0, this.#size);
    const begun = this.#endedSeq === undefined ? this.#seq : undefined;
    const chunk = streamChunk(bytes, this.#endedSeq, begun);
    this.#size = 0;
    return chunk;
  }
}
