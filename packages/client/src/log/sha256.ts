/**
 * SHA-256 (FIPS 180-4) of bytes that arrive in pieces: by `node:crypto` where the platform has it (Node.js,
 * Deno, Bun), and by this file in browsers, whose Web Crypto hashes only what is whole in memory.
 */

interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

interface NodeCrypto {
  createHash(name: 'sha256'): Hash;
  /** Not on every platform. */
  hash?: (name: 'sha256', bytes: Uint8Array, encoding: 'buffer') => Uint8Array;
}

interface Platform {
  readonly process?: { getBuiltinModule?: (name: 'node:crypto') => NodeCrypto | undefined };
}

const { process: runtime } = globalThis as Platform;
const crypto = runtime?.getBuiltinModule?.('node:crypto');

export function createSha256(): Hash {
  return crypto?.createHash('sha256') ?? new PortableSha256();
}

/** The hash of bytes that are all in memory. */
export function sha256(bytes: Uint8Array): Uint8Array {
  if (crypto?.hash !== undefined) return crypto.hash('sha256', bytes, 'buffer');
  const hash = createSha256();
  hash.update(bytes);
  return hash.digest();
}

const BLOCK = 64;
const CONSTANTS = new Int32Array(BLOCK);
const START = new Int32Array(8);
{
  // The first 32 bits of the fractions of the cube and square roots of the first primes.
  let count = 0;
  for (let number = 2; count < BLOCK; number += 1) {
    if (!isPrime(number)) continue;
    if (count < START.length) START[count] = fraction(Math.sqrt(number));
    CONSTANTS[count] = fraction(Math.cbrt(number));
    count += 1;
  }
}

function isPrime(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor += 1)
    if (number % factor === 0) return false;
  return true;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

export class PortableSha256 implements Hash {
  readonly #state = new Int32Array(START);
  readonly #block = new Uint8Array(BLOCK);
  #filled = 0;
  #length = 0;

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = 0;
    if (this.#filled > 0) {
      at = Math.min(BLOCK - this.#filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < BLOCK) return this;
      compress(this.#state, this.#block, 0);
      this.#filled = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) compress(this.#state, bytes, at);
    this.#block.set(bytes.subarray(at));
    this.#filled = bytes.length - at;
    return this;
  }

  /** To be called once. */
  digest(): Uint8Array {
    const zeros = (2 * BLOCK - 9 - this.#filled) % BLOCK;
    const padding = new DataView(new ArrayBuffer(1 + zeros + 8));
    padding.setUint8(0, 0x80);
    padding.setUint32(1 + zeros, Math.floor(this.#length / 2 ** 29));
    padding.setUint32(5 + zeros, this.#length * 8);
    this.update(new Uint8Array(padding.buffer));
    const digest = new DataView(new ArrayBuffer(32));
    for (let index = 0; index < 8; index += 1) digest.setInt32(4 * index, this.#state[index] ?? 0);
    return new Uint8Array(digest.buffer);
  }
}

const schedule = new Int32Array(BLOCK);

/** Names as in FIPS 180-4 section 6.2.2. */
function compress(state: Int32Array, bytes: Uint8Array, start: number): void {
  const w = schedule;
  for (let t = 0; t < 16; t += 1) {
    const at = start + 4 * t;
    w[t] =
      ((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0);
  }
  for (let t = 16; t < BLOCK; t += 1) {
    const w15 = w[t - 15] ?? 0;
    const w2 = w[t - 2] ?? 0;
    const s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ (w15 >>> 3);
    const s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ (w2 >>> 10);
    w[t] = ((w[t - 16] ?? 0) + s0 + (w[t - 7] ?? 0) + s1) | 0;
  }
  // Not destructured: iterators cost more than the rounds.
  let a = state[0] ?? 0;
  let b = state[1] ?? 0;
  let c = state[2] ?? 0;
  let d = state[3] ?? 0;
  let e = state[4] ?? 0;
  let f = state[5] ?? 0;
  let g = state[6] ?? 0;
  let h = state[7] ?? 0;
  for (let t = 0; t < BLOCK; t += 1) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (CONSTANTS[t] ?? 0) + (w[t] ?? 0)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] = (state[0] ?? 0) + a;
  state[1] = (state[1] ?? 0) + b;
  state[2] = (state[2] ?? 0) + c;
  state[3] = (state[3] ?? 0) + d;
  state[4] = (state[4] ?? 0) + e;
  state[5] = (state[5] ?? 0) + f;
  state[6] = (state[6] ?? 0) + g;
  state[7] = (state[7] ?? 0) + h;
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
