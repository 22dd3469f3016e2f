/**
 * An entry as the index of a segment has it: the words of all string values, and its facets as words
 * that no text has. The same for the same entry, always.
 */
import { FACET_SIZE, type Facet } from '../../../log/facet.ts';
import { StringValueReader, stringValuesIn } from '../../../json/string-values.ts';
import { MAX_CHUNK_LENGTH, StreamTokenizer, tokenize } from '../../../search/tokenizer.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunksSync, largeFacets } from '../large/large-files.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { AsciiWords } from './ascii-words.ts';

// The tokenizer returns no character for private use.
/** Ends each value, so that no phrase matches across two values. */
const VALUE_END = '\uf8ff';
/** Begins each facet. */
const FACET_MARK = '\uf8fe';

const FACET_DIGITS = 2 * FACET_SIZE;
/** Bytes in a row of a large entry. After each `ROWS_PER_SIZE` rows it doubles. */
const ROW_SIZE = 64 * 1024;
const ROWS_PER_SIZE = 2 ** 20;
/** Facets in such a row. */
const ROW_FACETS = 1024;

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

/** A row of a large entry. */
export interface LargeRow {
  readonly words: string;
  readonly facets: string;
}

/**
 * The rows of a large entry with these facets: further facets that it has in files, then its words, the first with the other facets.
 * Reads its files in small pieces.
 */
export function* largeRows(
  paths: DataPaths,
  { large: name = '' }: Pick<EntryRow, 'large'>,
  facets: Buffer,
): Generator<LargeRow, void, undefined> {
  for (const chunk of largeFacets(paths, name))
    for (let at = 0; at < chunk.length; at += ROW_FACETS * FACET_SIZE) {
      const some = chunk.subarray(at, at + ROW_FACETS * FACET_SIZE);
      yield { words: '', facets: facetTokens(Buffer.from(some)) };
    }
  const collected = new CollectedWords(facetTokens(facets));
  const words = new StreamTokenizer((more) => collected.push(more));
  const reader = new StringValueReader({
    text(value: string): void {
      for (let at = 0; at < value.length; at += MAX_CHUNK_LENGTH)
        words.push(value.slice(at, at + MAX_CHUNK_LENGTH));
    },
    end(): void {
      words.end();
      collected.push([VALUE_END]);
    },
  });
  for (const chunk of largeChunksSync(paths, name)) {
    for (let at = 0; at < chunk.length; at += ROW_SIZE) {
      reader.feed(chunk.subarray(at, at + ROW_SIZE));
      if (collected.isFull) yield collected.take();
    }
  }
  yield collected.take();
}

/**
 * Words for the next row. Collects them in bytes that are used again: as strings they would outlive the
 * collections of young garbage, and pile up.
 */
class CollectedWords {
  #bytes = Buffer.allocUnsafe(2 * ROW_SIZE);
  #rows = 0;
  #length = 0;
  #facets: string;

  /** `facets`: for the first row. */
  constructor(facets: string) {
    this.#facets = facets;
  }

  get isFull(): boolean {
    return this.#length >= ROW_SIZE * 2 ** Math.floor(this.#rows / ROWS_PER_SIZE);
  }

  push(words: readonly string[]): void {
    if (words.length === 0) return;
    const joined = `${words.join(' ')} `;
    const end = this.#length + Buffer.byteLength(joined);
    if (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * end);
    this.#length += this.#bytes.write(joined, this.#length);
  }

  take(): LargeRow {
    const row = { words: this.#bytes.toString('utf8', 0, this.#length), facets: this.#facets };
    this.#length = 0;
    this.#facets = '';
    this.#rows += 1;
    return row;
  }
}
