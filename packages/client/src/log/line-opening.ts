/** Reads a line of a log up to the visitor's members (PROTOCOL.md section 20.2). */

/** What stands in a line before the visitor's members. Positions are in the text. */
export interface LineOpening {
  /** The link of this entry, in hex. */
  readonly link: string;
  /** In hex; undefined where the entry cannot be verified, or was withheld. */
  readonly salt: string | undefined;
  /** Of a withheld entry, the digest of its salt and body, in hex. */
  readonly digest: string | undefined;
  /** Of a withheld entry that was an answer: the seq of the entry that begins its thread, in hex. */
  readonly thread: string | undefined;
  /** Hash of the idempotency key's column, in hex. */
  readonly key: string | undefined;
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly room: string;
  readonly timestamp: string;
  /** Where the entry begins. */
  readonly start: number;
  /** The index after the gateway's own members. */
  readonly end: number;
}

const HEX = { link: 64, salt: 32, digest: 64, thread: 16, key: 64 } as const;
/** As gateways write it. */
const USUAL =
  /\{"link":"([\da-f]{64})"(?:,"salt":"([\da-f]{32})")?(?:,"digest":"([\da-f]{64})")?(?:,"thread":"([\da-f]{16})")?(?:,"key":"([\da-f]{64})")?,"entry":/y;
const OWN =
  /\{"id":"([\da-f-]{36})","seq":(\d{1,16}),"kind":"([a-z]+)","room":"([^"\\]+)","timestamp":"([^"\\]+)"/y;
const MEMBER = /[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SIMPLE = /[^\s",:[\]{}]+/y;

/** Undefined for what is no such line. `text`: one character for each byte. `from`: where the line begins. */
export function readOpening(text: string, from: number): LineOpening | undefined {
  USUAL.lastIndex = from;
  const usual = USUAL.exec(text);
  if (usual !== null) {
    const [, link = '', salt, digest, thread, key] = usual;
    return withOwn(text, USUAL.lastIndex, { link, salt, digest, thread, key });
  }
  const { start, members } = readMembers(text, from);
  const { link, salt, digest, thread, key } = members;
  if (start === undefined || link === undefined) return undefined;
  return withOwn(text, start, { link, salt, digest, thread, key });
}

function withOwn(
  text: string,
  start: number,
  proof: Pick<LineOpening, 'link' | 'salt' | 'digest' | 'thread' | 'key'>,
): LineOpening | undefined {
  OWN.lastIndex = start;
  const found = OWN.exec(text);
  if (found === null) return undefined;
  const [, id = '', seq, kind = '', room = '', timestamp = ''] = found;
  return { ...proof, id, seq: Number(seq), kind, room, timestamp, start, end: OWN.lastIndex };
}

/** The known members before `entry`, and where `entry` begins. */
function readMembers(
  text: string,
  from: number,
): { readonly start?: number; readonly members: Partial<Record<keyof typeof HEX, string>> } {
  const members: Partial<Record<keyof typeof HEX, string>> = {};
  for (let at = from; ;) {
    MEMBER.lastIndex = at;
    const name = MEMBER.exec(text)?.[1];
    if (name === undefined) return { members };
    at = MEMBER.lastIndex;
    if (name === '"entry"') return { start: at, members };
    const end = endOfValue(text, at);
    if (end === undefined) return { members };
    const value = text.slice(at + 1, end - 1);
    for (const [known, size] of Object.entries(HEX)) {
      const isHex = value.length === size && /^[\da-f]*$/.test(value);
      if (name === `"${known}"` && isHex) members[known as keyof typeof HEX] = value;
    }
    at = end;
  }
}

/** The index after the JSON value that begins there; undefined if it does not end. */
function endOfValue(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const character = text.charAt(at);
    const pattern = character === '"' ? STRING : SIMPLE;
    pattern.lastIndex = at;
    if (pattern.test(text)) at = pattern.lastIndex;
    else {
      if (character === '"') return undefined;
      if ('[{'.includes(character)) depth += 1;
      if (']}'.includes(character)) depth -= 1;
      at += 1;
    }
    if (depth === 0) return at;
    if (depth < 0) return undefined;
  }
  return undefined;
}
