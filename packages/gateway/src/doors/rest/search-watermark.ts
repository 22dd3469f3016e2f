/** Up to where words are known: part of every answer that depends on it. */
import type { Seq } from '../../log/log.ts';
import type { RequestContext } from '../../http/context.ts';

/** Spellings of a parameter `q`, so that a URL without one is not read further. */
const Q = /[?&](?:q|%71)(?:=|&|$)/;

/** Undefined where no words are looked for: then the head alone tells what the answer is. */
export function searchWatermarkFor({ app, request }: RequestContext): Seq | undefined {
  return Q.test(request.url ?? '') ? app.log.searchWatermark() : undefined;
}
