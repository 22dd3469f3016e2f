/** Splits byte streams into messages and changes no byte: one message per line, or per server-sent event. */
import { MessageText, TooLong } from './message-text.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

type ByteStream = AsyncIterable<Uint8Array>;
type Messages = AsyncGenerator<MessageText, void, undefined>;

const END = Symbol('end of a line');
const RETURN = Buffer.from('\r');

/** Yields pieces of lines without line endings, and `END` after each line, even after a last one that has no ending. */
async function* linePieces(
  stream: ByteStream,
): AsyncGenerator<Uint8Array | typeof END, void, undefined> {
  /** Whether a carriage return is held back, since it may be part of a line ending. */
  let isHeld = false;
  let isOpen = false;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      if (isHeld && end > from) yield RETURN;
      isHeld = false;
      yield chunk.subarray(from, chunk[end - 1] === CARRIAGE_RETURN && end > from ? end - 1 : end);
      yield END;
      from = end + 1;
      isOpen = false;
    }
    if (from === chunk.length) continue;
    if (isHeld) yield RETURN;
    isOpen = true;
    isHeld = chunk.at(-1) === CARRIAGE_RETURN;
    yield chunk.subarray(from, isHeld ? -1 : chunk.length);
  }
  if (isOpen) yield END;
}

/** Yields lines of any length without line endings, even a last one that has no ending. */
export async function* splitLines(stream: ByteStream): Messages {
  let text = new MessageText();
  try {
    for await (const piece of linePieces(stream)) {
      if (piece !== END) {
        await text.write(piece);
        continue;
      }
      const line = text;
      text = new MessageText();
      await line.end();
      yield line;
    }
  } finally {
    await text[Symbol.asyncDispose]();
  }
}

/**
 * Yields the data of each server-sent event, and drops an unfinished last one. Throws `TooLong` if the
 * data, or another line, have more than `longest` bytes.
 */
export async function* parseEvents(
  stream: ByteStream,
  longest: number = Number.POSITIVE_INFINITY,
): Messages {
  const parser = new EventParser(longest);
  try {
    for await (const piece of linePieces(stream)) {
      if (piece !== END) {
        await parser.read(piece);
        continue;
      }
      const message = await parser.endLine();
      if (message === undefined) continue;
      await message.end();
      yield message;
    }
  } finally {
    await parser[Symbol.asyncDispose]();
  }
}

const FIELD = Buffer.from('data:');
const BREAK = Buffer.from('\n');

class EventParser implements AsyncDisposable {
  readonly #longest: number;
  #data: MessageText;
  /** Bytes of a line that is not data. */
  #skipped = 0;
  /** How many lines of data the event has so far. */
  #dataLines = 0;
  /** The start of the line, until it is long enough to tell its field. */
  #start = Buffer.alloc(0);
  #isData: boolean | undefined;

  constructor(longest: number) {
    this.#longest = longest;
    this.#data = new MessageText(longest);
  }

  async read(piece: Uint8Array): Promise<void> {
    if (this.#isData === undefined) {
      this.#start = Buffer.concat([this.#start, piece]);
      // The space after the colon is not part of the data.
      if (this.#start.length > FIELD.length) await this.#startField();
    } else if (this.#isData) await this.#data.write(piece);
    else this.#skipped += piece.length;
    if (this.#skipped > this.#longest) throw new TooLong(this.#longest);
    if (this.#data.fault !== undefined) throw this.#data.fault;
  }

  /** The data of the event, if this line ends one. */
  async endLine(): Promise<MessageText | undefined> {
    const isEmpty = this.#isData === undefined && this.#start.length === 0;
    if (this.#isData === undefined) await this.#startField();
    this.#isData = undefined;
    this.#skipped = 0;
    this.#start = Buffer.alloc(0);
    if (!isEmpty || this.#dataLines === 0) return undefined;
    const data = this.#data;
    this.#data = new MessageText(this.#longest);
    this.#dataLines = 0;
    return data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#data[Symbol.asyncDispose]();
  }

  async #startField(): Promise<void> {
    this.#isData = this.#start.subarray(0, FIELD.length).equals(FIELD);
    if (!this.#isData) return;
    if (this.#dataLines > 0) await this.#data.write(BREAK);
    this.#dataLines += 1;
    const from = FIELD.length + (this.#start[FIELD.length] === SPACE ? 1 : 0);
    await this.#data.write(this.#start.subarray(from));
  }
}

/** The same JSON value on one line: unescaped line breaks in JSON are whitespace between tokens. */
export function withoutBreaks(json: Uint8Array): Uint8Array {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  return json.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte));
}
