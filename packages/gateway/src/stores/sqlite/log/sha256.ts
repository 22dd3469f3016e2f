import { hash } from 'node:crypto';

export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}

/** The same as a string of 32 characters below 256: faster, where it is only written elsewhere. */
export function sha256Binary(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'binary');
}
