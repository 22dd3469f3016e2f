/** Up to where words are known: part of every answer that depends on it. */
import type { Seq } from '../../log/log.ts';
import type { Exchange } from './exchange.ts';

/** Spellings of a parameter `q`, so that a URL without one is not read further. */
const Q = /[?&](?:q|%71)(?:=|&|$)/;

/** Undefined where no words are looked for: then the head alone tells what the answer is. */
export function knownFor({ house, request }: Exchange): Seq | undefined {
  return Q.test(request.url ?? '') ? house.log.searched() : undefined;
}
