/**
 * Verifies the lines of a log, each by its link (PROTOCOL.md section 20.1): whoever knows one link
 * notices every change of what is before it.
 *
 * Invariant: Whoever reads a log finds what has changed in it.
 * Test: `test/client/log-lines.test.ts` “finds any changed character, with the seq of its entry”
 */
import type { Checkpoint } from '@open-presence/protocol';

import { PresenceError } from '../presence-error.ts';
import { isUnreadable, type LogLine, withheldIn } from './log-lines.ts';
import { createSha256, sha256 } from './sha256.ts';

const LINK = 32;
const SALT = 16;
const EMPTY = new Uint8Array(0);
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** By the code of a hexadecimal digit in lower case. */
const VALUES = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

export class ChainVerifier {
  readonly #log: string;
  #head: number;
  #link: string;
  /** What a digest is made of: the salt and the hash of the body. */
  readonly #salted = new Uint8Array(SALT + LINK);
  /** What a link is made of: the link before, the own members, the digest and perhaps a key. */
  #linked = new Uint8Array(1024);

  constructor({ log, head, link }: Checkpoint) {
    this.#log = log;
    this.#head = head;
    this.#link = link;
    writeHex(this.#linked, 0, link);
  }

  /** After the last line that was verified. */
  get checkpoint(): Checkpoint {
    return { log: this.#log, head: this.#head, link: this.#link };
  }

  /**
   * Yields the lines, each when it was verified; a long one before that, which is verified when its
   * last piece was read, or skipped. Throws `PresenceError` with the seq of the first that is not what
   * its link was made of (`broken-chain`), is missing (`broken-chain`) or was lost by the gateway
   * (`unreadable-entry`).
   */
  async *verify(
    batches: AsyncIterable<readonly LogLine[]>,
  ): AsyncGenerator<readonly LogLine[], void> {
    for await (const batch of batches) {
      const [line] = batch;
      if (line !== undefined && line.body === undefined) yield* this.#verifyLong(line);
      else yield* this.#verifyShort(batch);
    }
  }

  /** Yields the lines before a fault, then throws. */
  *#verifyShort(batch: readonly LogLine[]): Generator<readonly LogLine[], void> {
    for (const [index, line] of batch.entries()) {
      try {
        this.#check(line, sha256(line.body ?? EMPTY));
      } catch (error) {
        if (index > 0) yield batch.slice(0, index);
        throw error;
      }
    }
    yield batch;
  }

  async *#verifyLong(line: LogLine): AsyncGenerator<readonly LogLine[], void> {
    const hash = createSha256();
    const source = line.chunks();
    let failure: { readonly error: unknown } | undefined;
    async function* hashed(): AsyncGenerator<Uint8Array, void> {
      try {
        // Its caller may stop, which must not end the source.
        for (let step = await source.next(); step.done !== true; step = await source.next()) {
          hash.update(step.value);
          yield step.value;
        }
      } catch (error) {
        failure = { error };
        throw error;
      }
    }
    const chunks = hashed();
    yield [{ ...line, chunks: () => chunks }];
    for await (const _ of hashed());
    // Whoever read it may have gone on after that.
    if (failure !== undefined) throw failure.error;
    this.#check(line, hash.digest());
  }

  #check(line: LogLine, body: Uint8Array): void {
    const seq = this.#head + 1;
    if (line.seq !== seq) throw fault(seq, `is missing: entry ${line.seq} is in its place`);
    const link = this.#linkOf(line, this.#digestOf(line, body));
    if (toHex(link) !== line.link)
      throw fault(seq, 'is not what its link was made of: it has changed, or its link has');
    this.#linked.set(link);
    this.#head = seq;
    this.#link = line.link;
  }

  #linkOf({ own, key }: LogLine, digest: Uint8Array): Uint8Array {
    const digestStart = LINK + own.length;
    const keyStart = digestStart + LINK;
    const end = keyStart + (key === undefined ? 0 : LINK);
    if (this.#linked.length < end) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#linked.subarray(0, LINK));
      this.#linked = larger;
    }
    this.#linked.set(own, LINK);
    this.#linked.set(digest, digestStart);
    if (key !== undefined) writeHex(this.#linked, keyStart, key);
    return sha256(this.#linked.subarray(0, end));
  }

  #digestOf(line: LogLine, body: Uint8Array): Uint8Array {
    if (line.digest !== undefined) {
      // Whatever else it said would be covered by nothing.
      if (withheldIn(line) === undefined)
        throw fault(line.seq, 'has a digest, but does not say that it was withheld');
      const digest = new Uint8Array(LINK);
      writeHex(digest, 0, line.digest);
      return digest;
    }
    if (line.salt === undefined) throw unverifiable(line);
    writeHex(this.#salted, 0, line.salt);
    this.#salted.set(body, SALT);
    return sha256(this.#salted);
  }
}

function unverifiable(line: LogLine): PresenceError {
  const { seq } = line;
  const description = isUnreadable(line)
    ? 'cannot be read: the gateway has lost what the visitor said'
    : 'cannot be verified: its line has no salt';
  return new PresenceError('unreadable-entry', `Entry ${seq} ${description}.`, { seq });
}

function fault(seq: number, description: string): PresenceError {
  return new PresenceError('broken-chain', `Entry ${seq} ${description}.`, { seq });
}

function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) text += DIGITS[bytes[at] ?? 0];
  return text;
}

/** Writes the bytes that an even number of hexadecimal digits in lower case stand for. */
function writeHex(target: Uint8Array, at: number, text: string): void {
  for (let digit = 0; digit < text.length; digit += 2) {
    const high = VALUES[text.charCodeAt(digit)] ?? 0;
    target[at + digit / 2] = high * 16 + (VALUES[text.charCodeAt(digit + 1)] ?? 0);
  }
}
