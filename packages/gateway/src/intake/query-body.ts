/** What is said in a query (PROTOCOL.md section 16) becomes the JSON that a body would be. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import { NAMED } from './findings.ts';
import type { KindGrammar } from './grammar.ts';
import { HEX_VALUE } from '../json/scanner-tables.ts';

/** Parameters that are the gateway's own, and no members. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['idempotency-key', 'as']);

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a body with a member for each parameter, in the order in which their names first
 * come: a string, or of one that is given several times, or must be one, an array of strings. Throws
 * `invalid-parameter` for what is not UTF-8; all else is judged as a body is.
 */
export function bodyOfQuery(query: string, { kind, rules }: KindGrammar): Buffer {
  const members = new Map<string, string[]>();
  const faults: Fault[] = [];
  for (const pair of pairsOf(query)) {
    const end = pair.indexOf('=');
    const name = decoded(end === -1 ? pair : pair.slice(0, end));
    const value = end === -1 ? '' : decoded(pair.slice(end + 1));
    if (name === undefined || value === undefined) {
      faults.push(notUtf8(name));
      if (faults.length === NAMED) break;
      continue;
    }
    if (OWN_PARAMETERS.has(name)) continue;
    const values = members.get(name);
    if (values === undefined) members.set(name, [value]);
    else values.push(value);
  }
  if (faults.length > 0) throw refusal(kind, faults);
  const lists = new Set(rules.filter(({ rule }) => rule.type === 'strings').map((one) => one.name));
  const texts = Array.from(members, ([name, values]) => {
    const alone = values.length === 1 && !lists.has(name);
    return `${JSON.stringify(name)}:${JSON.stringify(alone ? values[0] : values)}`;
  });
  return Buffer.from(`{${texts.join(',')}}`);
}

/** One by one: a hostile query may have more than an array should. */
function* pairsOf(query: string): Generator<string, void, undefined> {
  let start = 0;
  for (let end = query.indexOf('&'); end !== -1; end = query.indexOf('&', start)) {
    if (end > start) yield query.slice(start, end);
    start = end + 1;
  }
  if (start < query.length) yield query.slice(start);
}

/** What the table says of what is no digit. */
const NO_DIGIT = 16;
const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20];

/** The text behind percent-encoding and `+`; undefined if it is no UTF-8. */
function decoded(part: string): string | undefined {
  const bytes = Buffer.from(part, 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const high = HEX_VALUE[bytes[at + 1] ?? 0] ?? NO_DIGIT;
    const low = HEX_VALUE[bytes[at + 2] ?? 0] ?? NO_DIGIT;
    if (byte === PERCENT && high < NO_DIGIT && low < NO_DIGIT) {
      bytes[size++] = 16 * high + low;
      at += 2;
    } else bytes[size++] = byte === PLUS ? SPACE : (byte ?? 0);
  }
  try {
    return strict.decode(bytes.subarray(0, size));
  } catch {
    return undefined;
  }
}

function notUtf8(name: string | undefined): Fault {
  const what = name === undefined ? 'the name of a parameter' : JSON.stringify(name);
  const detail = `${what} must be text in UTF-8, percent-encoded`;
  return name === undefined ? { detail } : { parameter: name, detail };
}

function refusal(kind: string, faults: readonly Fault[]): GatewayError {
  const sentence = faults.map(({ detail }) => detail).join('; ');
  const detail = `Cannot store the entry of kind "${kind}": ${sentence}`;
  return new GatewayError('invalid-parameter', detail, { faults });
}
