/** One or more adjacent words, as the tokenizer (`search/tokenizer.ts`) returns them. */
export interface Term {
  readonly words: readonly string[];
  /** Whether the last word is a prefix: "gard" matches "garden". */
  readonly isPrefix: boolean;
}

/** An entry matches if every one of `all`, and none of `none`, is in a string value of its body. */
export interface TextQuery {
  /** At least one. */
  readonly all: readonly Term[];
  readonly none: readonly Term[];
}
