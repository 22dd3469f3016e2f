/** Finds who said an entry, in a body of any length. */
import type { LogLine } from '@open-presence/client';
import { JsonScanner, PathFinder, type JsonPath } from '@open-presence/gateway/json';

/** Bytes of a name in a long body. A longer name is not read. */
const LONGEST_NAME = 60_000;

/** Undefined for an entry without a name. */
export async function visitorName(line: LogLine): Promise<string | undefined> {
  const member = line.kind === 'resonance' ? 'ai_identity' : 'identity';
  const { body } = line;
  if (body === undefined) return await nameInLongBody(line.chunks(), [member]);
  const entry: unknown = JSON.parse(`{${new TextDecoder().decode(body)}}`);
  return nameOf(Object.getOwnPropertyDescriptor(entry, member)?.value);
}

async function nameInLongBody(
  chunks: AsyncIterable<Uint8Array>,
  path: JsonPath,
): Promise<string | undefined> {
  let name: string | undefined;
  /** What was read last, and where that begins in the text. */
  let held = Buffer.alloc(0);
  let offset = 0;
  const finder = new PathFinder([path], ({ type, start, end }) => {
    if (type !== 'string' || start < offset) return;
    name = nameOf(JSON.parse(held.toString('utf8', start - offset, end - offset)));
  });
  const scanner = new JsonScanner(finder);
  const feed = (bytes: Uint8Array): void => {
    const kept = held.subarray(-LONGEST_NAME);
    offset += held.length - kept.length;
    held = Buffer.concat([kept, bytes]);
    scanner.feed(bytes);
  };
  feed(Buffer.from('{'));
  for await (const bytes of chunks) feed(bytes);
  feed(Buffer.from('}'));
  return name;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
