/** Long polling: waiting until a listing has a new entry (PROTOCOL.md section 12.4). */
import { waitForEntries } from '../feed/wait-for-entries.ts';
import { parseSearchSelection, parseWait } from '../intake/selection.ts';
import type { OperationsContext } from './context.ts';
import type { ListingScope } from './listing-scope.ts';

/** Until the scope has an entry after `after`, for `wait` seconds, or until aborted. Throws `invalid-parameter`. */
export async function waitForListing(
  { log, grammar }: Pick<OperationsContext, 'log' | 'grammar'>,
  scope: Pick<ListingScope, 'facets' | 'fixed' | 'subject'>,
  parameters: URLSearchParams,
  signal: AbortSignal,
): Promise<void> {
  // Whoever lists afterwards parses the others.
  if (!parameters.has('wait')) return;
  const selection = await parseSearchSelection(parameters, { ...scope, grammar, log });
  const wait = await parseWait(parameters, scope.subject);
  const { after } = selection;
  if (wait === undefined || wait === 0 || after === undefined) return;
  await waitForEntries(log, { ...selection, after }, { timeoutMs: wait, signals: [signal] });
}
