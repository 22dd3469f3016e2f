/** Holding an answer until there is something new (PROTOCOL.md section 12.4). */
import { follow } from '../../feed/follow.ts';
import { selectionOf, waitOf } from '../../intake/selection.ts';
import { isGone, queryOf, type Exchange } from './exchange.ts';
import type { Place } from './listing.ts';

/** What a timer can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Resolves when the listing has something after `after`, the time of `wait` is up, nobody waits any
 * more, or the gateway rests. Throws for parameters that cannot be used.
 */
export async function newsFor(exchange: Exchange, place: Place): Promise<void> {
  const { house, request, response } = exchange;
  const parameters = queryOf(request);
  const selection = selectionOf(parameters, { ...place, grammar: house.grammar });
  const wait = waitOf(parameters, place.subject);
  const { after, before = Infinity } = selection;
  if (wait === undefined || wait === 0 || after === undefined) return;
  const until = performance.now() + wait;
  const gone = new AbortController();
  const end = (): void => gone.abort();
  const timer = setTimeoutAt(until, end);
  response.once('close', end);
  house.streams.resting.addEventListener('abort', end);
  if (house.streams.resting.aborted || isGone(exchange)) end();
  try {
    const { signal } = gone;
    for await (const news of follow(house.log, selection, { after, signal })) {
      const bounded = { ...news, before: Math.min(before, news.before), limit: 1 };
      for await (const _ of house.log.entries(bounded)) return;
    }
  } finally {
    timer[Symbol.dispose]();
    response.off('close', end);
    house.streams.resting.removeEventListener('abort', end);
  }
}

/** A timer of any length. */
function setTimeoutAt(until: number, done: () => void): Disposable {
  let timer: NodeJS.Timeout;
  const set = (): void => {
    const left = until - performance.now();
    if (left <= 0) done();
    else timer = setTimeout(set, Math.min(left, LONGEST_TIMER));
  };
  timer = setTimeout(set, Math.min(Math.max(0, until - performance.now()), LONGEST_TIMER));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
