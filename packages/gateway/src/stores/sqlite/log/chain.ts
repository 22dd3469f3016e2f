/**
 * The hash chain: each entry's link is SHA-256 over the link before, the entry's own members and
 * the SHA-256 of the visitor's. Whoever knows one link can tell that no byte before it has changed.
 */
import { hash } from 'node:crypto';

const LINK_SIZE = 32;

/** What the first entry is linked to. */
export const FIRST_LINK: Uint8Array = new Uint8Array(LINK_SIZE);

/** `head`: the entry's text up to the visitor's members; `body`: SHA-256 of the visitor's. */
export function linkOf(before: Uint8Array, head: Uint8Array, body: Uint8Array): Uint8Array {
  return digestOf(Buffer.concat([before, head, body]));
}

export function digestOf(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}
