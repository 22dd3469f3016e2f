/** The search watermark in the tags of answers: the seq up to which words are indexed. */
import type { Log, Seq } from '../log/log.ts';

/** Spellings of a parameter `q`, so that a URL without one is not parsed. */
const Q = /[?&](?:q|%71)(?:=|&|$)/;

/** Undefined for a URL without `q`: then the answer depends on the head alone. */
export function searchWatermarkFor(log: Log, url: string): Seq | undefined {
  return Q.test(url) ? log.searchWatermark() : undefined;
}
