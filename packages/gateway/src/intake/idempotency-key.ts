/** The idempotency key of a request (PROTOCOL.md section 7.4). */
import { hash } from 'node:crypto';

import { GatewayError } from '@open-presence/protocol';

/** A structured field string (RFC 9651 section 3.3.3): printable ASCII in quotes. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/**
 * The SHA-256 of the key of a request, undefined without one. The header wins. The value of a
 * header is taken as its bytes (one character each, as HTTP gives it), a parameter as UTF-8, so
 * that both can say the same. Throws `invalid-parameter` for an empty key.
 */
export function keyOf(
  header: string | undefined,
  parameter: string | null,
): Uint8Array | undefined {
  const given = header ?? parameter;
  if (given === null) return undefined;
  const text = QUOTED.exec(given)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? given;
  if (text === '') throw emptyKey(header === undefined ? 'idempotency-key' : 'Idempotency-Key');
  return hash('sha256', bytesOf(text, header !== undefined), 'buffer');
}

function bytesOf(text: string, header: boolean): Buffer {
  return Buffer.from(text, header && /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf8');
}

function emptyKey(parameter: string): GatewayError {
  const detail = `"${parameter}" must be a text of at least one character, got an empty one`;
  return new GatewayError('invalid-parameter', `Cannot read the idempotency key: ${detail}`, {
    faults: [{ parameter, detail }],
  });
}
