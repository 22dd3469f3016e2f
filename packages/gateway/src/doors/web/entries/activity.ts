/** `GET /web/activity`: counts over time, for the plots and the picture. Private to the pages. */
import type { GardenEntry } from '@open-presence/web/page-data';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { JSON_TYPE, NO_STORE } from '../../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../../http/response/response.ts';
import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Log } from '../../../log/log.ts';
import { type Activity, countActivity, parseActivityQuery } from '../../../operations/activity.ts';
import type { DoorRequest } from '../../context.ts';
import { gardenEntryOf } from './garden-entries.ts';

const SAMPLE = 4;

export async function sendActivity(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const parameters = queryOf(request);
  const query = parseActivityQuery(parameters);
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  const activity = await countActivity(app, { ...query, signal });
  const more = parameters.get('samples');
  const samples =
    more === null ? undefined : await samplesOf(app.log, activity, { more: Number(more), signal });
  const body = jsonBody({ ...activity, samples });
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
}

/** Some entries of each span with more than `more` of them, evenly spread over it. */
async function samplesOf(
  log: Log,
  { bounds }: Activity,
  { more, signal }: { readonly more: number; readonly signal: AbortSignal },
): Promise<GardenEntry[][]> {
  const takeTurn = yieldPeriodically();
  const samples: GardenEntry[][] = [];
  for (const [index, first] of bounds.slice(0, -1).entries()) {
    const count = (bounds[index + 1] ?? first) - first;
    const found: GardenEntry[] = [];
    const seqs = Array.from({ length: SAMPLE }, (_, at) => {
      return first + Math.floor(((at + 0.5) * count) / SAMPLE);
    });
    for (const seq of count > more ? seqs : []) {
      signal.throwIfAborted();
      const entry = await log.entry(seq);
      if (entry !== undefined) found.push(await gardenEntryOf(entry));
      await takeTurn();
    }
    samples.push(found);
  }
  return samples;
}
