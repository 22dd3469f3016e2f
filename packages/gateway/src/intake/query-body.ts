/** Turns the parameters of a query (PROTOCOL.md section 16) into the JSON text of a body. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import { HEX_VALUE } from '../json/scanner-tables.ts';
import type { KindGrammar } from './grammar.ts';
import { MAX_FAULTS } from './selection.ts';

/** Parameters that are no members. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['idempotency-key', 'as']);

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A body with a member for each parameter, in the order of the first of each name: a string, or an
 * array of strings for a parameter that is repeated or whose member must be an array. Throws
 * `invalid-parameter` for what is not UTF-8; nothing else is validated.
 */
export function bodyFromQuery(query: string, { kind, rules }: KindGrammar): Buffer {
  const members = new Map<string, string[]>();
  const faults: Fault[] = [];
  for (const pair of pairsOf(query)) {
    const end = pair.indexOf('=');
    const name = decode(end === -1 ? pair : pair.slice(0, end));
    const value = end === -1 ? '' : decode(pair.slice(end + 1));
    if (name === undefined || value === undefined) {
      faults.push(notUtf8(name));
      if (faults.length === MAX_FAULTS) break;
      continue;
    }
    if (OWN_PARAMETERS.has(name)) continue;
    const values = members.get(name);
    if (values === undefined) members.set(name, [value]);
    else values.push(value);
  }
  if (faults.length > 0) {
    const sentence = faults.map(({ detail }) => detail).join('; ');
    const message = `Cannot store the entry of kind "${kind}": ${sentence}`;
    throw new GatewayError('invalid-parameter', message, { faults });
  }
  const arrays = new Set(
    rules.filter(({ rule }) => rule.type === 'strings').map(({ name }) => name),
  );
  const texts = Array.from(members, ([name, values]) => {
    const isString = values.length === 1 && !arrays.has(name);
    return `${JSON.stringify(name)}:${JSON.stringify(isString ? values[0] : values)}`;
  });
  return Buffer.from(`{${texts.join(',')}}`);
}

/** A generator, because a hostile query may have more pairs than an array should. */
function* pairsOf(query: string): Generator<string, void, undefined> {
  let start = 0;
  for (let end = query.indexOf('&'); end !== -1; end = query.indexOf('&', start)) {
    if (end > start) yield query.slice(start, end);
    start = end + 1;
  }
  if (start < query.length) yield query.slice(start);
}

/** In `HEX_VALUE`, for bytes that are no digit. */
const NO_DIGIT = 16;
const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20];

/**
 * Decodes percent-encoding and `+`; undefined if the result is not UTF-8. A `%` without two digits
 * stands for itself, which `decodeURIComponent` refuses. Escaping it first would take seconds for
 * a query of millions of them.
 */
function decode(part: string): string | undefined {
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

function notUtf8(parameter: string | undefined): Fault {
  const subject = parameter === undefined ? 'the name of a parameter' : JSON.stringify(parameter);
  const detail = `${subject} must be text in UTF-8, percent-encoded`;
  return parameter === undefined ? { detail } : { parameter, detail };
}
