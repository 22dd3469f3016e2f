/** What is looked for in what visitors said. */

/** Words that follow one another. Made by `wordsOf`, at least one. */
export interface Term {
  readonly words: readonly string[];
  /** Whether the last word may go on: "gard" finds "garden". */
  readonly open: boolean;
}

export interface TextQuery {
  /** An entry must have every one of these, in any of its texts. At least one. */
  readonly all: readonly Term[];
  /** And none of these. */
  readonly none: readonly Term[];
}
