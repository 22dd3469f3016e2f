/** What every door is given: the HTTP toolkit's services, and what operations work on. */
import { localize } from '@open-presence/protocol';

import { localeFor, type Handler, type HttpContext, type RequestContext } from '../http/context.ts';
import type { Localization } from '../http/route-description.ts';
import type { Door } from '../http/routing/door.ts';
import type { OperationsContext } from '../operations/context.ts';

export interface DoorContext extends HttpContext, OperationsContext {}

export type DoorRequest = RequestContext<DoorContext>;
export type DoorHandler = Handler<DoorContext>;
export type ProtocolDoor = Door<DoorContext>;

/** The language, and the locale that the caller prefers. */
export function localizationFor({ app, request }: DoorRequest): Localization {
  const locale = localeFor(request);
  return { language: app.language, locale, text: (text) => localize(text, locale) };
}
