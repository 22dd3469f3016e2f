/**
 * The hash chain: the link of an entry is SHA-256 over the link of the entry before, the gateway's
 * members, and the SHA-256 of the body. Whoever knows one link can detect a change of any byte before.
 */
import { hash } from 'node:crypto';

const LINK_SIZE = 32;

/** The link before the first entry. */
export const FIRST_LINK: Uint8Array = new Uint8Array(LINK_SIZE);

/** `head`: the entry's text up to the visitor's members. */
export function linkOf(previous: Uint8Array, head: Uint8Array, bodyDigest: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([previous, head, bodyDigest]));
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}
