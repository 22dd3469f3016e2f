/** The status document (PROTOCOL.md section 2). */
import { SERVICE_LINK_HEADER, statusDocument } from '@open-presence/protocol';

import { answer, json } from '../../http/answers.ts';
import { contentLanguage, JSON_TYPE, NOT_KEPT } from '../../http/headers.ts';
import { localeFor, type RequestContext, type StartupContext } from '../../http/context.ts';

/** `varied`: the request headers that chose this form of the answer. */
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
