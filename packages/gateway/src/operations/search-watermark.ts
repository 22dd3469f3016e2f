/** The search watermark in the tags of answers: the seq up to which words are indexed. */
import type { Log, Seq } from '../log/log.ts';

/** Matches every spelling of the parameter `q`, so that URLs without it are not parsed. */
const Q = /[?&](?:q|%71)(?:=|&|$)/;

/** Undefined for a URL without `q`: then the response depends only on the head. */
export function searchWatermarkFor(log: Log, url: string): Seq | undefined {
  return Q.test(url) ? log.searchWatermark() : undefined;
}
