/** Errors as responses (PROTOCOL.md section 11). */
import {
  GatewayError,
  localize,
  problemDocument,
  SERVICE_LINK_HEADER,
} from '@open-presence/protocol';

import { isStorageFault } from '../../storage-fault.ts';
import { type BufferedResponse, sendResponse, jsonBody } from './response.ts';
import { contentLanguage, NO_STORE, type Headers } from './headers.ts';
import { isDisconnected, localeFor, type RequestContext, type StartupContext } from '../context.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** In seconds, where trying again may help. */
export const RETRY_AFTER = '10';

export async function sendProblem(
  context: RequestContext<StartupContext>,
  error: GatewayError,
  headers: Headers = {},
): Promise<void> {
  await sendResponse(context, problemResponse(context, error, headers));
}

export function problemResponse(
  { app, request }: Pick<RequestContext<StartupContext>, 'app' | 'request'>,
  error: GatewayError,
  headers: Headers = {},
): BufferedResponse {
  const { status } = error;
  const locale = localeFor(request);
  const document = problemDocument(error, localize(app.language.errors[error.code], locale));
  const retry: Headers = status === 503 || status === 507 ? { 'Retry-After': RETRY_AFTER } : {};
  return {
    status,
    type: PROBLEM_TYPE,
    headers: {
      ...SERVICE_LINK_HEADER,
      ...headers,
      ...retry,
      ...NO_STORE,
      ...contentLanguage(locale),
    },
    body: jsonBody(document),
  };
}

/**
 * Sends what a handler threw: a `GatewayError` as it is, anything else as `internal`, and reports it.
 * A response that has started is cut off, so that it cannot be mistaken for a complete one.
 */
export function sendError(context: RequestContext<StartupContext>, error: unknown): void {
  const { app, response } = context;
  if (isDisconnected(context)) return;
  const problem = problemOf(context, error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendProblem(context, problem).catch((cause: unknown) => {
    app.report.error({ err: cause }, 'cannot send the problem');
    response.destroy();
  });
}

/** The error, if a caller may know it. Else reports it, and returns what `faultError` makes of it. */
export function problemOf(
  { app, request }: Pick<RequestContext<StartupContext>, 'app' | 'request'>,
  error: unknown,
): GatewayError {
  if (error instanceof GatewayError) return error;
  app.report.error({ err: error, method: request.method, url: request.url }, 'fault');
  return faultError(error);
}

const STORAGE_FAULT =
  'The disk of the gateway, or a file on it, cannot be read now. Try again later, or tell its operator.';
const INTERNAL =
  'The gateway failed because of a fault of its own. Try again, or tell its operator.';

/** What a caller is told of a fault. */
export function faultError(fault: unknown): GatewayError {
  if (isStorageFault(fault)) return new GatewayError('unavailable', STORAGE_FAULT);
  return new GatewayError('internal', INTERNAL);
}
