/** `GET /web/activity`: counts over time, for the plots and the picture. Private to the pages. */
import { abortOnDisconnect } from '../../http/context.ts';
import { queryOf } from '../../http/query.ts';
import { JSON_TYPE, NO_STORE } from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { countActivity, parseActivityQuery } from '../../operations/activity.ts';
import type { DoorRequest, ProtocolDoor } from '../context.ts';

export const activityRoute: ProtocolDoor['routes'][number] = {
  path: '/web/activity',
  get: [{ type: 'application/json', handle: sendActivity }],
  description: { paths: [] },
};

async function sendActivity(context: DoorRequest): Promise<void> {
  const query = parseActivityQuery(queryOf(context.request));
  using caller = abortOnDisconnect(context);
  const activity = await countActivity(context.app, { ...query, signal: caller.signal });
  const body = jsonBody(activity);
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
}
