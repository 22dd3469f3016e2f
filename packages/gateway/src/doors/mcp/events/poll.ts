/** `events/poll`: what happened after a cursor (PROTOCOL.md section 18.10). */
import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { NearNames } from '../../../near-names.ts';
import { readPage, boundedSelection, DEFAULT_LIMIT } from '../../../operations/read-page.ts';
import { MAX_RESULT_SIZE } from '../tools/results.ts';
import type { ToolContext } from '../tools/tool-call.ts';
import { occurrence } from './event-types.ts';
import { PARAMS, subscriptionOf, wholeNumberIn } from './subscription.ts';

/** A suggestion: a client that asks more often is answered as well. `events/stream` needs no asking. */
const NEXT_POLL_MS = 10_000;
const POLL_PARAMS = new NearNames([...PARAMS, 'maxEvents']);

export async function pollEvents(context: ToolContext, params: JsonObject): Promise<JsonObject> {
  const { log } = context.app;
  // First: whatever comes while the params are read is not older than a cursor of now.
  const head = log.head();
  const subscription = await subscriptionOf(context.app, params, POLL_PARAMS);
  const maxEvents = wholeNumberIn(params, 'maxEvents', 1) ?? DEFAULT_LIMIT;
  const limit = Math.min(maxEvents, Number.MAX_SAFE_INTEGER);
  const { selection, after } = subscription;
  const wanted = { ...selection, order: 'oldest', after, limit } as const;
  const events: JsonObject[] = [];
  const { signal } = context;
  const reading = log.readEntries({ ...boundedSelection(wanted, head), signal });
  const end = await readPage(reading, MAX_RESULT_SIZE, async (entry) => {
    if (await subscription.isLeftOut(entry)) return 0;
    const text = occurrence(context, subscription.name, entry);
    events.push(toJsonObject(JSON.parse(text)));
    return text.length;
  });
  const cursor = String(end.more ? (end.last ?? after) : Math.max(after, head));
  return { events, cursor, truncated: false, hasMore: end.more, nextPollMs: NEXT_POLL_MS };
}
