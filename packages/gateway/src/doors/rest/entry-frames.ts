/** Entries as frames of an event stream (PROTOCOL.md section 12.1). */
import type { LogRange } from '../../feed/follow.ts';
import { streamChunk, type StreamChunk } from '../../http/event-stream.ts';
import type { Log, Seq } from '../../log/log.ts';

/** Bytes of an entry that are enough to read its seq and kind. */
const HEAD = 128;
/** Where the digits of the seq begin: behind `{"id":"`, the id and `","seq":`. */
const SEQ_AT = 51;
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const NOTHING = Buffer.alloc(0);
const END_OF_FRAME = Buffer.from('\n\n');

export interface Framing {
  /** Only these kinds, where a selection cannot say so. */
  readonly kinds: ReadonlySet<string> | undefined;
  /** Bytes of a slice at most. */
  readonly size: number;
}

/** The news in slices. */
export async function* frameEntries(
  log: Log,
  news: LogRange,
  framing: Framing,
): AsyncGenerator<StreamChunk, void, undefined> {
  const framer = new Framer(framing);
  for await (const piece of log.readText(news, '\n')) yield* framer.take(piece);
  yield* framer.end();
}

/** Turns entries, one a line, into frames. */
class Framer {
  readonly #framing: Framing;
  /** Where a slice is put together. */
  #out: Buffer = NOTHING;
  #size = 0;
  /** The seq of the entry that ended last in `#out`. */
  #ended: Seq | undefined;
  /** The seq of the entry that is being read; undefined between two, 0 where it is left out. */
  #seq: Seq | undefined;
  /** What came of an entry that is too little to read its head. */
  #early: Buffer = NOTHING;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  *take(piece: Uint8Array): Generator<StreamChunk, void, undefined> {
    const bytes =
      this.#early.length > 0
        ? Buffer.concat([this.#early, piece])
        : Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    this.#early = NOTHING;
    for (let at = 0; at < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, at);
      const to = newline === -1 ? bytes.length : newline;
      if (newline === -1 && this.#seq === undefined && to - at < HEAD) {
        this.#early = Buffer.from(bytes.subarray(at));
        return;
      }
      yield* this.#text(bytes, at, to);
      if (newline !== -1) yield* this.#endEntry();
      at = to + 1;
    }
  }

  *end(): Generator<StreamChunk, void, undefined> {
    if (this.#early.length > 0) yield* this.#text(this.#early, 0, this.#early.length);
    if (this.#seq !== undefined) yield* this.#endEntry();
    if (this.#size > 0) yield this.#slice();
  }

  *#text(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    if (this.#seq === undefined) yield* this.#begin(bytes, from, to);
    if (this.#seq !== 0) yield* this.#put(bytes, from, to);
  }

  *#begin(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    const comma = bytes.indexOf(COMMA, from + SEQ_AT);
    const kindAt = comma + ',"kind":"'.length;
    const kind = bytes.toString('latin1', kindAt, bytes.indexOf(QUOTE, kindAt));
    const seq = bytes.toString('latin1', from + SEQ_AT, comma);
    this.#seq = this.#framing.kinds?.has(kind) === false ? 0 : Number(seq);
    if (this.#seq === 0) return;
    const opening = `id: ${seq}\nevent: ${kind}\ndata: `;
    // What is whole goes out whole, so that a reader that stalls can go on behind it.
    const whole = opening.length + to - from + END_OF_FRAME.length;
    if (this.#size > 0 && this.#size + whole > this.#framing.size) yield this.#slice();
    // Most news have nothing in them.
    if (this.#out.length === 0) this.#out = Buffer.allocUnsafe(this.#framing.size);
    this.#size += this.#out.write(opening, this.#size, 'latin1');
  }

  *#endEntry(): Generator<StreamChunk, void, undefined> {
    if (this.#seq !== 0) {
      yield* this.#put(END_OF_FRAME, 0, END_OF_FRAME.length);
      this.#ended = this.#seq;
    }
    this.#seq = undefined;
  }

  *#put(bytes: Buffer, from: number, to: number): Generator<StreamChunk, void, undefined> {
    for (let at = from; at < to;) {
      if (this.#size === this.#out.length) yield this.#slice();
      const size = Math.min(to - at, this.#out.length - this.#size);
      this.#out.set(bytes.subarray(at, at + size), this.#size);
      this.#size += size;
      at += size;
      if (this.#size > 0) this.#ended = undefined;
    }
  }

  #slice(): StreamChunk {
    const slice = streamChunk(this.#out.subarray(0, this.#size), this.#ended);
    this.#size = 0;
    return slice;
  }
}
