/** How the gateway is (PROTOCOL.md section 2): told to visitors, and to probes. */
import { SERVICE_LINK_HEADER, statusDocument } from '@open-presence/protocol';

import { answer, contentLanguage, json, JSON_TYPE, NOT_KEPT, vary } from '../../http/answers.ts';
import { localeFor, type RequestContext, type StartupContext } from '../../http/context.ts';

/** Where something chose this form, its headers are `varied` by. */
export async function status(
  context: RequestContext<StartupContext>,
  ...varied: readonly string[]
): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const document = statusDocument(app.language, app.state(), locale, new Date());
  const headers = { ...NOT_KEPT, ...contentLanguage(locale, ...varied), ...SERVICE_LINK_HEADER };
  await answer(context, { status: 200, type: JSON_TYPE, headers, body: json(document) });
}

/** While the process lives. */
export function healthz(context: RequestContext<StartupContext>): Promise<void> {
  return probe(context, 200);
}

/** While entries can be stored. */
export function readyz(context: RequestContext<StartupContext>): Promise<void> {
  return probe(context, context.app.state() === 'breathing' ? 200 : 503);
}

function probe(context: RequestContext<StartupContext>, status: number): Promise<void> {
  const body = json({ status: context.app.state() });
  return answer(context, { status, type: JSON_TYPE, headers: { ...NOT_KEPT, ...vary() }, body });
}
