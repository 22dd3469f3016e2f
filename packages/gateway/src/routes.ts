/** All doors, and the router in front of them. The only file that knows every door. */
import type { Language } from '@open-presence/protocol';

import { a2aDoor } from './doors/a2a/a2a.ts';
import type { DoorContext, DoorRequest, ProtocolDoor } from './doors/context.ts';
import { docsDoor } from './doors/docs/docs.ts';
import { feedsDoor } from './doors/feeds/feeds.ts';
import { healthDoor } from './doors/health/health.ts';
import { mcpDoor } from './doors/mcp/mcp.ts';
import { markPresent, noteNames, untilNamedIsThere } from './doors/reading.ts';
import { noticeDoor } from './doors/notice/notice.ts';
import { restDoor } from './doors/rest/rest.ts';
import { webDoor } from './doors/web/web.ts';
import { Router } from './http/router.ts';

export { hasPages } from './doors/web/web.ts';

/** By their names in the log of requests. */
const DOORS: Readonly<Record<string, ProtocolDoor>> = {
  rest: restDoor,
  feeds: feedsDoor,
  mcp: mcpDoor,
  a2a: a2aDoor,
  docs: docsDoor,
  health: healthDoor,
  notice: noticeDoor,
  web: webDoor,
};

export function createRouter({ guesses }: Language): Router<DoorContext> {
  return new Router(DOORS, beforeReading, guesses);
}

function beforeReading(context: DoorRequest): Promise<void> | undefined {
  markPresent(context);
  const isThere = untilNamedIsThere(context);
  return isThere === undefined ? noteNames(context) : isThere.then(() => noteNames(context));
}
