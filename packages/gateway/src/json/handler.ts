/** What the scanner reports of a JSON text while it reads it. */

const NONE = Buffer.alloc(0);

export type ValueType = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/**
 * A handler overrides what it needs. Positions count bytes from the start of the current piece: a
 * start is that of the first byte, an end is after the last byte. An end may be reported at
 * position 0 of the next piece. The depth of a value is the number of objects and arrays around it.
 */
export class JsonHandler {
  /** The bytes that are being read, and their place in the whole text. They hold whole characters. */
  protected piece: Buffer = NONE;
  protected offset = 0;

  startPiece({ buffer, byteOffset, length }: Uint8Array, offset: number): void {
    this.piece = Buffer.from(buffer, byteOffset, length);
    this.offset = offset;
  }

  endPiece(): void {}

  /**
   * Called for the outermost value, and for values in objects and arrays that were asked for. For a string, true
   * asks for its content.
   */
  startValue(_type: ValueType, _depth: number, _at: number): boolean {
    return false;
  }

  endValue(_depth: number, _at: number): void {}

  /** A member name of an object whose values are reported. True asks for the name's content. */
  startName(_at: number): boolean {
    return false;
  }

  endName(_at: number): void {}

  /** The colon after a reported name, and the comma between members of a reported object. */
  colon(_at: number): void {}

  comma(_at: number): void {}

  /** Characters of a string that were written without a backslash. */
  text(_from: number, _to: number): void {}

  /** A character that was written with a backslash, or two: its code point, or half a surrogate pair. */
  escaped(_code: number): void {}
}
