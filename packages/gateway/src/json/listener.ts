/** What a scanner tells of the outermost levels of a JSON text. */

export type ValueType = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/**
 * `at`, `from` and `to` are places in the piece at hand: of the first byte
 * where something begins, behind the last one where it ends. An end may be told at place 0 of the
 * piece that follows.
 */
export interface Listener {
  /** Bytes follow, beginning at this offset of the whole text. They hold whole characters. */
  pieceBegins(bytes: Uint8Array, offset: number): void;
  pieceEnds(): void;
  /**
   * A value: the outermost one, and what is in those for which true was returned. The answer for
   * a string says whether `text` and `unit` shall tell what it says.
   */
  valueBegins(type: ValueType, depth: number, at: number): boolean;
  valueEnds(depth: number, at: number): void;
  /** Names, colons and commas are told of the outermost object alone, a name's text always. */
  nameBegins(at: number): void;
  nameEnds(at: number): void;
  colon(at: number): void;
  comma(at: number): void;
  /** Characters that stand for themselves. */
  text(from: number, to: number): void;
  /** A UTF-16 code unit that was written with a backslash. */
  unit(code: number): void;
}
