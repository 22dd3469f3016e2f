/**
 * An entry as the index has it: the words of all string values, and its facets as words that no text has. The
 * same for the same entry, always.
 */
import { FACET_SIZE, type Facet } from '../../log/facet.ts';
import { StringValueReader, stringValuesIn } from '../../json/string-values.ts';
import { MAX_CHUNK_LENGTH, StreamTokenizer, tokenize } from '../../search/tokenizer.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunksSync } from '../large/large-files.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { AsciiWords } from './ascii-words.ts';

// The tokenizer returns no character for private use.
/** Ends each value, so that no phrase matches across two values. */
const VALUE_END = '\uf8ff';
/** Begins each facet. */
const FACET_MARK = '\uf8fe';

const FACET_DIGITS = 2 * FACET_SIZE;
/** Bytes of a body whose words are indexed (PROTOCOL.md section 14.1). */
export const MAX_INDEXED_SIZE: number = 1024 * 1024;

/** The words of small entries. */
export class EntryWords {
  readonly #asciiWords = new AsciiWords(VALUE_END);

  /** Bytes are valid until the next call. */
  read({ head, text }: Pick<EntryRow, 'head' | 'text'>): string | Uint8Array {
    return this.#asciiWords.read(text, head) ?? wordsIn(text.subarray(head));
  }
}

function wordsIn(body: Uint8Array): string {
  let words = '';
  for (const value of stringValuesIn(body)) {
    const found = tokenize(value);
    if (found.length > 0) words += `${found.join(' ')} `;
    words += `${VALUE_END} `;
  }
  return words;
}

/** `facets`: one after another. */
export function facetTokens(facets: Buffer): string {
  const digits = facets.toString('hex');
  let tokens = '';
  for (let at = 0; at < digits.length; at += FACET_DIGITS)
    tokens += `${FACET_MARK}${digits.slice(at, at + FACET_DIGITS)} `;
  return tokens;
}

export function facetToken(facet: Facet): string {
  return `${FACET_MARK}${Buffer.from(facet).toString('hex')}`;
}

/** The words in the first bytes of a large entry: as many as one row of the index has. */
export function largeWords(paths: DataPaths, name: string): string {
  let words = '';
  const add = (more: readonly string[]): void => {
    if (more.length > 0) words += `${more.join(' ')} `;
  };
  const tokenizer = new StreamTokenizer(add);
  const reader = new StringValueReader({
    text(value: string): void {
      for (let at = 0; at < value.length; at += MAX_CHUNK_LENGTH)
        tokenizer.push(value.slice(at, at + MAX_CHUNK_LENGTH));
    },
    end(): void {
      tokenizer.end();
      add([VALUE_END]);
    },
  });
  let left = MAX_INDEXED_SIZE;
  for (const chunk of largeChunksSync(paths, name)) {
    reader.feed(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return words;
}
