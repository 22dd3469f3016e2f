/** Holding an answer until there is something new (PROTOCOL.md section 12.4). */
import { waitForEntries } from '../feed/wait-for-entries.ts';
import { parseSelection, parseWait } from '../intake/selection.ts';
import { isGone, queryOf, type RequestContext } from '../http/context.ts';
import type { ListingScope } from '../doors/rest/listing.ts';

/**
 * Resolves when the listing has something after `after`, the time of `wait` is up, nobody waits any
 * more, or the gateway rests. Throws for parameters that cannot be used.
 */
export async function waitForListing(
  context: RequestContext,
  place: Pick<ListingScope, 'facets' | 'kinds' | 'subject'>,
  parameters: URLSearchParams = queryOf(context.request),
): Promise<void> {
  const { app, response } = context;
  const selection = parseSelection(parameters, { ...place, grammar: app.grammar });
  const wait = parseWait(parameters, place.subject);
  const { after } = selection;
  if (wait === undefined || wait === 0 || after === undefined) return;
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.once('close', end);
  if (isGone(context)) end();
  try {
    const signals = [gone.signal, app.eventStreams.resting];
    await waitForEntries(app.log, { ...selection, after }, { timeoutMs: wait, signals });
  } finally {
    response.off('close', end);
  }
}
