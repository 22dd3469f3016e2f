/**
 * Copies the members of a body as they were spelled (PROTOCOL.md section 4), with two exceptions: names of the
 * gateway's own members get a prefix, and one member can be left out with one comma. Upholds: while something is
 * undecided, only a count of white space is held, and of a name only the bytes that could still be a known name.
 */
import { VISITOR_PREFIX } from '@open-presence/protocol';

import { BodyBuffer } from './body-buffer.ts';

const COMMA = Buffer.from(',');
const COLON = Buffer.from(':');
const PREFIX = Buffer.from(`"${VISITOR_PREFIX}`);
/** Bytes that a byte of a name can take: it may be written as `\u0000`. */
const ESCAPE_LENGTH = 6;
const NOWHERE = -1;

export class MemberCopier {
  readonly body: BodyBuffer = new BodyBuffer();
  /** A name that is not decided yet. */
  readonly #held: Buffer;
  #heldLength = 0;
  #isHolding = false;
  #piece: Uint8Array = Buffer.alloc(0);
  #offset = 0;
  /** From where on bytes of the piece are copied, or held. */
  #from = NOWHERE;

  // Offsets of the whole text, between which whitespace is counted.
  #gapStart = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #colon = 0;
  #valueEnd = 0;
  /** Spaces between the last copied member and its comma. */
  #trailingSpaces = 0;
  #isOmitting = false;
  #isEmpty = true;

  /** Names are held up to `longestName` bytes. */
  constructor(longestName: number) {
    this.#held = Buffer.allocUnsafe((longestName + 3) * ESCAPE_LENGTH);
  }

  startPiece(bytes: Uint8Array, offset: number): void {
    this.#piece = bytes;
    this.#offset = offset;
  }

  endPiece(): void {
    if (this.#from === NOWHERE) return;
    const end = this.#piece.length;
    if (this.#isHolding) this.#hold(end);
    else this.body.add(this.#piece, this.#from, end);
    this.#from = 0;
  }

  startObject(at: number): void {
    this.#gapStart = this.#offset + at + 1;
  }

  /** Holds the name that starts here until it is copied, renamed or deferred. */
  startName(at: number): void {
    this.#isHolding = true;
    this.#from = at;
    this.#heldLength = 0;
    this.#nameStart = this.#offset + at;
  }

  /** Copies the name as it is; its end may be still to come. */
  copyName(): void {
    this.#isHolding = false;
    this.#separate();
    this.body.add(this.#held, 0, this.#heldLength);
  }

  /** Copies the name that ends here, with the prefix. */
  renameName(at: number): void {
    this.#endHeldName(at);
    this.#addRenamed();
    this.#from = at;
  }

  /** Holds the name that ends here until its value starts. */
  deferName(at: number): void {
    this.#endHeldName(at);
    this.#from = NOWHERE;
    this.#nameEnd = this.#offset + at;
  }

  /** Copies the deferred name with the prefix, and the value that starts here. */
  renameDeferred(at: number): void {
    this.#addRenamed();
    this.body.addSpaces(this.#colon - this.#nameEnd);
    this.body.add(COLON, 0, 1);
    this.body.addSpaces(this.#offset + at - this.#colon - 1);
    this.#from = at;
  }

  /** Leaves out the member whose name was deferred. */
  omitDeferred(): void {
    this.#isOmitting = true;
  }

  colon(at: number): void {
    this.#colon = this.#offset + at;
  }

  comma(at: number): void {
    if (!this.#isOmitting) this.#trailingSpaces = this.#offset + at - this.#valueEnd;
    this.#isOmitting = false;
    this.#gapStart = this.#offset + at + 1;
  }

  endValue(at: number): void {
    this.#valueEnd = this.#offset + at;
    if (this.#from !== NOWHERE) this.body.add(this.#piece, this.#from, at);
    this.#from = NOWHERE;
  }

  #endHeldName(at: number): void {
    this.#isHolding = false;
    this.#hold(at);
  }

  #hold(to: number): void {
    this.#held.set(this.#piece.subarray(this.#from, to), this.#heldLength);
    this.#heldLength += to - this.#from;
  }

  #addRenamed(): void {
    this.#separate();
    this.body.add(PREFIX, 0, PREFIX.length);
    this.body.add(this.#held, 1, this.#heldLength);
  }

  /** Adds what stood between the last copied member and this one. */
  #separate(): void {
    if (!this.#isEmpty) {
      this.body.addSpaces(this.#trailingSpaces);
      this.body.add(COMMA, 0, 1);
      this.body.addSpaces(this.#nameStart - this.#gapStart);
    }
    this.#isEmpty = false;
  }
}
