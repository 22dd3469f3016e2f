/** The status document (PROTOCOL.md section 2). */
import { localize, quoted, SERVICE_LINK_HEADER, statusDocument } from '@open-presence/protocol';

import { sendResponse, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, JSON_TYPE, NO_STORE } from '../../http/response/headers.ts';
import { localeFor, type RequestContext, type StartupContext } from '../../http/context.ts';

/** `varied`: the request headers that selected this representation. */
export async function status(
  context: RequestContext<StartupContext>,
  ...varied: readonly string[]
): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const usual = statusDocument(app.language, app.state(), locale, new Date());
  const readOnly = app.readOnly();
  const held = localize(app.language.states.holding.meaning, locale);
  const message = `${held} ${quoted(readOnly ?? '')} ${usual.message}`;
  const document = readOnly === undefined ? usual : { ...usual, message };
  const headers = { ...NO_STORE, ...contentLanguage(locale, ...varied), ...SERVICE_LINK_HEADER };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body: jsonBody(document) });
}
