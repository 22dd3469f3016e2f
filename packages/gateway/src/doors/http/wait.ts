/** Holding an answer until there is something new (PROTOCOL.md section 12.4). */
import { newsOf } from '../../feed/news.ts';
import { selectionOf, waitOf } from '../../intake/selection.ts';
import { isGone, queryOf, type Exchange } from './exchange.ts';
import type { Place } from './listing.ts';

/**
 * Resolves when the listing has something after `after`, the time of `wait` is up, nobody waits any
 * more, or the gateway rests. Throws for parameters that cannot be used.
 */
export async function newsFor(
  exchange: Exchange,
  place: Pick<Place, 'facets' | 'kinds' | 'subject'>,
  parameters: URLSearchParams = queryOf(exchange.request),
): Promise<void> {
  const { house, response } = exchange;
  const selection = selectionOf(parameters, { ...place, grammar: house.grammar });
  const wait = waitOf(parameters, place.subject);
  const { after } = selection;
  if (wait === undefined || wait === 0 || after === undefined) return;
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.once('close', end);
  if (isGone(exchange)) end();
  try {
    const signals = [gone.signal, house.streams.resting];
    await newsOf(house.log, { ...selection, after }, { wait, signals });
  } finally {
    response.off('close', end);
  }
}
