/** One or more adjacent words, as the tokenizer (`search/tokenizer.ts`) returns them. */
export interface Term {
  readonly words: readonly string[];
  /** Whether the last word is a prefix: "gard" matches "garden". */
  readonly isPrefix: boolean;
}

/** Terms as bytes, because a query may have millions, which also go from thread to thread. */
export interface TermList {
  readonly count: number;
  /** In UTF-8, each term as `termText` writes it, with a newline after it. */
  readonly bytes: Uint8Array;
}

/** An entry matches if every one of `all`, and none of `none`, is in a string value of its body. */
export interface TextQuery {
  /** At least one. No term is in it twice. */
  readonly all: TermList;
  readonly none: TermList;
}

const NEWLINE = 0x0a;

/** The words joined by spaces, and `*` after a prefix: no word has these characters. */
export function termText({ words, isPrefix }: Term): string {
  return `${words.join(' ')}${isPrefix ? '*' : ''}`;
}

export function termList(terms: readonly Term[]): TermList {
  const bytes = Buffer.from(terms.map((term) => `${termText(term)}\n`).join(''));
  return { count: terms.length, bytes };
}

export function* termsIn({ bytes }: TermList): Generator<Term, void, undefined> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < text.length;) {
    const end = text.indexOf(NEWLINE, at);
    const term = text.toString('utf8', at, end);
    const isPrefix = term.endsWith('*');
    yield { words: (isPrefix ? term.slice(0, -1) : term).split(' '), isPrefix };
    at = end + 1;
  }
}
