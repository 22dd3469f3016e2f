/** The idempotency key of a request (PROTOCOL.md section 7.4). */
import { hash } from 'node:crypto';

import { GatewayError } from '@open-presence/protocol';

/** The inner characters of a structured field string (RFC 9651 section 3.3.3), without escapes. */
const UNESCAPED = /^[ !#-[\]-~]*$/;
const ESCAPE = /\\(["\\])/g;
const PARAMETER = 'idempotency-key';

/**
 * The SHA-256 of the key, undefined without one. The header counts first; its characters are the bytes of the key.
 * `suffix` (ASCII) is added to a key that many entries share. Throws `invalid-parameter` for an empty key.
 */
export function hashIdempotencyKey(
  header: string | undefined,
  parameter: string | null,
  suffix = '',
): Uint8Array | undefined {
  const value = header ?? parameter;
  if (value === null) return undefined;
  const key = unquoted(value);
  if (key === '') {
    const name = header === undefined ? PARAMETER : 'Idempotency-Key';
    throw unusableKey(name, 'a text of at least one character, got an empty one');
  }
  const bytes = Buffer.from(key + suffix, header === undefined ? 'utf8' : 'latin1');
  return hash('sha256', bytes, 'buffer');
}

/** The key in a query or a form, null without one. Throws `invalid-parameter` for two: a caller would have to guess which counts. */
export function onlyKey([key, ...others]: readonly string[]): string | null {
  if (others.some((other) => other !== key))
    throw unusableKey(PARAMETER, 'one text, got several that differ');
  return key ?? null;
}

function unusableKey(parameter: string, wanted: string): GatewayError {
  const detail = `"${parameter}" must be ${wanted}`;
  return new GatewayError('invalid-parameter', `Cannot read the idempotency key: ${detail}`, {
    faults: [{ parameter, detail }],
  });
}

/** Not one regular expression: a key of millions of characters would exhaust its stack. */
function unquoted(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value;
  const inner = value.slice(1, -1);
  return UNESCAPED.test(inner.replaceAll(ESCAPE, '')) ? inner.replaceAll(ESCAPE, '$1') : value;
}
