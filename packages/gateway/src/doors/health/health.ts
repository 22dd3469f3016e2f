/**
 * The health door: what probes of an operator ask (PROTOCOL.md section 2.4). Answers from the moment
 * the gateway listens.
 */
import { sendResponse, jsonBody } from '../../http/response.ts';
import { JSON_TYPE, NO_STORE, vary } from '../../http/headers.ts';
import type { RequestContext, StartupContext } from '../../http/context.ts';
import type { ProtocolDoor } from '../context.ts';

export const healthDoor: ProtocolDoor = {
  routes: [
    { path: '/healthz', get: healthz, whileStarting: healthz },
    { path: '/readyz', get: readyz, whileStarting: readyz },
  ],
};

/** 200 while the process lives. */
function healthz(context: RequestContext<StartupContext>): Promise<void> {
  return report(context, 200);
}

/** 200 while entries can be stored. */
function readyz(context: RequestContext<StartupContext>): Promise<void> {
  return report(context, context.app.state() === 'breathing' ? 200 : 503);
}

function report(context: RequestContext<StartupContext>, status: number): Promise<void> {
  const body = jsonBody({ status: context.app.state() });
  return sendResponse(context, {
    status,
    type: JSON_TYPE,
    headers: { ...NO_STORE, ...vary() },
    body,
  });
}
