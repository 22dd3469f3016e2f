/**
 * Storing an entry by `GET` (PROTOCOL.md section 16), for visitors that cannot `POST`.
 *
 * Invariant: A `HEAD`, a prefetch or a look at the path stores nothing.
 * Test: `test/browser/prefetch.test.ts` “what a browser fetches ahead says nothing; what is then
 *   followed is said once”
 */
import type { IncomingMessage } from 'node:http';

import {
  GatewayError,
  isKind,
  KINDS,
  localize,
  quoted,
  sayPath,
  type Kind,
} from '@open-presence/protocol';

import { bodyFromQuery } from '../../intake/forms/query-body.ts';
import { localeFor } from '../../http/context.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  JSON_TYPE,
  NO_STORE,
} from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { describeFields, describeKind } from '../../operations/describe-gateway.ts';
import { draftFor } from '../../operations/contribution/append.ts';
import { store } from './contribute.ts';
import { idempotencyKeyOf } from '../request-key.ts';
import type { DoorRequest } from '../context.ts';
import { redirectsToOrigin } from '../redirect-to-origin.ts';

export async function say(context: DoorRequest): Promise<void> {
  const { app, request, response, params } = context;
  if (request.method === 'HEAD' || isPrefetch(request)) {
    response.writeHead(204, { ...NO_STORE, ...COMMON_HEADERS });
    response.end();
    return;
  }
  const kind = params['kind'] ?? '';
  if (!isKind(kind)) {
    const detail = `Cannot create this entry: ${quoted(kind)} is not a kind. The kinds are ${KINDS.join(', ')}.`;
    const example = sayPath('garden', app.grammar.kinds.garden.example);
    throw new GatewayError('unknown-kind', detail, { known: KINDS, example }, 404);
  }
  const grammar = app.grammar.kinds[kind];
  const { url = '' } = request;
  const mark = url.indexOf('?');
  response.setHeader('Cache-Control', 'no-store');
  try {
    const body = bodyFromQuery(mark === -1 ? '' : url.slice(mark + 1), grammar);
    if (body.length === NO_MEMBERS.length) await explain(context, kind);
    else if (!redirectsToOrigin(context))
      await store(context, await draftFor(app, { kind, body, key: idempotencyKeyOf(request) }));
  } catch (error) {
    throw error instanceof GatewayError
      ? withUrlExample(error, sayPath(kind, grammar.example))
      : error;
  }
}

const NO_MEMBERS = '{}';

/** What to send here, for a visitor who has sent nothing yet. */
async function explain(context: DoorRequest, kind: Kind): Promise<void> {
  const locale = localeFor(context.request);
  const { language } = context.app;
  const { title, meaning, path, fields, example } = describeKind(language, kind, locale);
  const pairs = Object.keys(example).map((name) => `${name}={${name}}`);
  const body = jsonBody({
    kind,
    title,
    meaning,
    how: localize(language.pages.byGetHow, locale),
    // The URL to request, with the visitor's own values in place of the braces.
    template: `/api/say/${kind}?${pairs.join('&')}`,
    fields: [...fields, ...describeFields(language.common, locale)],
    next: [`${path}?limit=20`, '/api/discover'],
  });
  const headers = { ...NO_STORE, ...contentLanguage(locale) };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body });
}

/** Whether a browser fetches the URL before a visitor opens it. */
function isPrefetch({ headers }: IncomingMessage): boolean {
  return /prefetch|prerender/i.test([headers['sec-purpose'], headers['purpose']].join(' '));
}

/** The same error, with an example that is a URL. */
function withUrlExample(
  { code, message, extensions }: GatewayError,
  example: string,
): GatewayError {
  const applies =
    code === 'invalid-entry' || code === 'unknown-room' || code === 'invalid-parameter';
  return new GatewayError(code, message, applies ? { ...extensions, example } : extensions);
}
