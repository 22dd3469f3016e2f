/** Quotes the first bytes of a value, as they were spelled, for an error. */
import { decodeWhole } from '../json/utf8.ts';

const MAX_LENGTH = 40;

export class ValueQuote {
  readonly #bytes = new Uint8Array(MAX_LENGTH);
  #length = 0;
  /** Where the value starts in the current piece. */
  #from = 0;
  #target: { quote: string } | undefined;

  /** The target gets the quote of the value that starts here. */
  start(target: { quote: string }, at: number): void {
    this.#target = target;
    this.#from = at;
    this.#length = 0;
  }

  endPiece(piece: Uint8Array): void {
    if (this.#target !== undefined) this.#add(piece, piece.length);
    this.#from = 0;
  }

  /** The value ends here, if one is quoted. Without `isNeeded` the target gets nothing. */
  end(piece: Uint8Array, at: number, isNeeded: boolean): void {
    if (this.#target === undefined) return;
    this.#add(piece, at);
    if (isNeeded) this.#target.quote = this.#text();
    this.#target = undefined;
  }

  #add(piece: Uint8Array, to: number): void {
    const free = MAX_LENGTH - this.#length;
    if (free > 0) {
      this.#bytes.set(piece.subarray(this.#from, Math.min(to, this.#from + free)), this.#length);
    }
    this.#length += to - this.#from;
  }

  #text(): string {
    if (this.#length > MAX_LENGTH) return `${decodeWhole(this.#bytes)}…`;
    return decodeWhole(this.#bytes.subarray(0, this.#length));
  }
}
