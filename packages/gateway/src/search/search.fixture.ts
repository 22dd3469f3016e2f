/** Text queries in short, and the seqs of what they find. */
import { setTimeout as pause } from 'node:timers/promises';

import type { Log, Selection, Seq } from '../log/log.ts';
import { termList, type TextQuery, type Term } from '../log/text-query.ts';
import { tokenize } from './tokenizer.ts';

/** A query from terms: `word`, `two words` for a phrase, `wor*` for a prefix, `-word` to exclude. */
export function textQuery(...terms: readonly string[]): TextQuery {
  const termOf = (text: string): Term => ({ words: tokenize(text), isPrefix: text.endsWith('*') });
  return {
    all: termList(terms.filter((text) => !text.startsWith('-')).map(termOf)),
    none: termList(terms.filter((text) => text.startsWith('-')).map(termOf)),
  };
}

/** Resolves when every entry appended so far can be searched. */
export async function untilSearchable(log: Log): Promise<void> {
  const head = log.head();
  while (log.searchWatermark() < head) await pause(20);
}

export async function seqsFound(log: Log, what: Partial<Selection>): Promise<Seq[]> {
  const entries = log.readEntries({ facets: [], order: 'oldest', ...what });
  return await Array.fromAsync(entries, ({ metadata }) => metadata.seq);
}

export async function bestSeqs(log: Log, query: TextQuery, limit = 100, skip = 0): Promise<Seq[]> {
  const entries = log.readRanked({ facets: [], textQuery: query, skip, limit });
  return await Array.fromAsync(entries, ({ metadata }) => metadata.seq);
}
