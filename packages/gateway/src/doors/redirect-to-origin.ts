import { sendError, sendProblem } from '../http/response/problem.ts';
import { discardBody } from '../http/request/request-body.ts';
import type { DoorRequest } from './context.ts';

/**
 * In a mirror: redirects a request that would store an entry to the mirrored gateway, with its method and body
 * (RFC 9110 section 15.4.8). Returns false elsewhere.
 */
export function redirectsToOrigin(context: DoorRequest): boolean {
  const { app, request } = context;
  const { mirror } = app;
  if (mirror === undefined) return false;
  const headers = { Location: `${mirror.origin}${request.url ?? ''}` };
  sendProblem(context, mirror.refusal(307), headers)
    .catch((error: unknown) => sendError(context, error))
    .finally(() => discardBody(request));
  return true;
}
