/** Splits byte streams into messages, byte for byte: one per line, or one per server-sent event. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

type ByteStream = AsyncIterable<Uint8Array>;

/** Lines of any length, without line endings; also a last one that is not ended. */
export async function* splitLines(
  stream: ByteStream,
): AsyncGenerator<Buffer<ArrayBuffer>, void, undefined> {
  let partial: Uint8Array[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield joinLine([...partial, chunk.subarray(from, end)]);
      partial = [];
      from = end + 1;
    }
    if (from < chunk.length) partial.push(chunk.subarray(from));
  }
  if (partial.length > 0) yield joinLine(partial);
}

function joinLine(parts: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const line = Buffer.concat(parts);
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte <= SPACE);
}

const DATA = Buffer.from('data:');

/** The data of each server-sent event; an unfinished last event is dropped. */
export async function* parseEvents(stream: ByteStream): AsyncGenerator<Buffer, void, undefined> {
  let data: Buffer[] = [];
  for await (const line of splitLines(stream)) {
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

/** Keeps the value: unescaped line breaks in JSON are whitespace between tokens. */
export function toSingleLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  return Buffer.from(
    json.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte)),
  );
}
