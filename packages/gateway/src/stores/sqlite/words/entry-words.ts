/** The words of entries, as rows of the full-text index have them: the same for the same entry, always. */
import { setImmediate as nextTick } from 'node:timers/promises';

import { StringValueReader, stringValuesIn } from '../../../json/string-values.ts';
import { MAX_CHUNK_LENGTH, StreamTokenizer, tokenize } from '../../../search/tokenizer.ts';
import type { EntryRow } from '../log/record.ts';
import { AsciiWords } from './ascii-words.ts';

/** Bytes in a row of a large entry. After each `ROWS_PER_SIZE` rows it doubles. */
const ROW_SIZE = 64 * 1024;
const ROWS_PER_SIZE = 2 ** 20;
/** Ends each value, so that no phrase matches across two values. The tokenizer never returns it. */
const VALUE_END = '\uf8ff';

/** Of small entries. */
export class EntryWords {
  readonly #asciiWords = new AsciiWords(VALUE_END);

  /** Each behind the prefix. Bytes are valid until the next call. */
  read({ head, text }: Pick<EntryRow, 'head' | 'text'>, prefix: string): string | Uint8Array {
    return this.#asciiWords.read(text, head, prefix) ?? wordsIn(text.subarray(head), prefix);
  }
}

function wordsIn(body: Uint8Array, prefix: string): string {
  let words = '';
  for (const value of stringValuesIn(body)) {
    const found = tokenize(value);
    if (found.length > 0) words += `${prefix}${found.join(` ${prefix}`)} `;
    words += `${VALUE_END} `;
  }
  return words;
}

/** Writes the words of a large entry. `chunks`: its body. */
export async function writeLargeRows(
  row: LargeRowWriter,
  chunks: Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const words = new StreamTokenizer((more) => row.push(more));
  const reader = new StringValueReader({
    text(value: string): void {
      for (let at = 0; at < value.length; at += MAX_CHUNK_LENGTH) {
        words.push(value.slice(at, at + MAX_CHUNK_LENGTH));
      }
    },
    end(): void {
      words.end();
      row.push([VALUE_END]);
    },
  });
  for (const bytes of chunks) {
    // Queries are answered in between.
    await nextTick();
    signal.throwIfAborted();
    reader.feed(bytes);
  }
  row.flush();
}

/**
 * Divides the words of a large entry among rows. Collects a row in bytes that are used again: its
 * words as strings would outlive the collections of young garbage, and pile up.
 */
export class LargeRowWriter {
  readonly #prefixOf: (part: number) => string;
  readonly #add: (part: number, words: string, size: number) => void;
  #prefix: string;
  #row = Buffer.allocUnsafe(2 * ROW_SIZE);
  #length = 0;
  /** Bytes of the words, without prefixes. */
  #size = 0;
  #part = 0;

  /**
   * `add` is called with each row: its number, its words, each behind the prefix of the row, and the
   * bytes of the words without it.
   */
  constructor(
    prefixOf: (part: number) => string,
    add: (part: number, words: string, size: number) => void,
  ) {
    this.#prefixOf = prefixOf;
    this.#add = add;
    this.#prefix = prefixOf(this.#part);
  }

  push(words: readonly string[]): void {
    if (words.length === 0) return;
    const prefix = this.#prefix;
    const joined = `${prefix}${words.join(` ${prefix}`)} `;
    const end = this.#length + Buffer.byteLength(joined);
    this.#size += end - this.#length - words.length * prefix.length;
    if (end > this.#row.length) this.#row = Buffer.concat([this.#row], 2 * end);
    this.#length += this.#row.write(joined, this.#length);
    if (end >= ROW_SIZE * 2 ** Math.floor(this.#part / ROWS_PER_SIZE)) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#add(this.#part, this.#row.toString('utf8', 0, this.#length), this.#size);
    this.#length = 0;
    this.#size = 0;
    this.#part += 1;
    this.#prefix = this.#prefixOf(this.#part);
  }
}
