/** Messages as they come in streams of bytes, letter by letter: one a line, or as events. */

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

type Pieces = AsyncIterable<Uint8Array>;

/** Lines without their ends, the last one also where it has none. No line is too long. */
export async function* linesOf(
  pieces: Pieces,
): AsyncGenerator<Buffer<ArrayBuffer>, void, undefined> {
  let held: Uint8Array[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, from)) {
      yield lineOf([...held, piece.subarray(from, end)]);
      held = [];
      from = end + 1;
    }
    if (from < piece.length) held.push(piece.subarray(from));
  }
  if (held.length > 0) yield lineOf(held);
}

function lineOf(pieces: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const line = Buffer.concat(pieces);
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte <= SPACE);
}

const DATA = Buffer.from('data:');

/** The data of each event of a stream of events; what is not finished is none. */
export async function* eventsOf(pieces: Pieces): AsyncGenerator<Buffer, void, undefined> {
  let data: Buffer[] = [];
  for await (const line of linesOf(pieces)) {
    if (line.length === 0) {
      if (data.length > 0) yield Buffer.concat(data);
      data = [];
    } else if (line.subarray(0, DATA.length).equals(DATA)) {
      const from = DATA.length + (line[DATA.length] === SPACE ? 1 : 0);
      if (data.length > 0) data.push(Buffer.from('\n'));
      data.push(line.subarray(from));
    }
  }
}

/** The same value on one line: in JSON, ends of lines stand between values alone. */
export function onOneLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED) && !json.includes(RETURN)) return json;
  return Buffer.from(json.map((byte) => (byte === LINE_FEED || byte === RETURN ? SPACE : byte)));
}
