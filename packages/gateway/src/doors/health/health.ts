/**
 * The health door: liveness and readiness probes (PROTOCOL.md section 2.4). Answers as soon as the
 * gateway listens.
 */
import { sendResponse, jsonBody } from '../../http/response/response.ts';
import { JSON_TYPE, NO_STORE, vary } from '../../http/response/headers.ts';
import type { RequestContext, StartupContext } from '../../http/context.ts';
import type { ProtocolDoor } from '../context.ts';

export const healthDoor: ProtocolDoor = {
  routes: [
    {
      path: '/healthz',
      get: [{ type: 'application/json', handle: healthz }],
      whileStarting: healthz,
      description: { id: 'alive', parameters: ['as'] },
    },
    {
      path: '/readyz',
      get: [{ type: 'application/json', handle: readyz }],
      whileStarting: readyz,
      description: { id: 'ready', parameters: ['as'] },
    },
  ],
};

/** 200 while the process runs. */
function healthz(context: RequestContext<StartupContext>): Promise<void> {
  return sendState(context, 200);
}

/** 200 while entries can be stored, and while only the owner stops storing: readers are served. */
function readyz(context: RequestContext<StartupContext>): Promise<void> {
  const { app } = context;
  const readOnly = app.readOnly();
  const more = readOnly === undefined ? {} : { readOnly };
  const isReady =
    app.state() === 'breathing' || (app.state() === 'holding' && readOnly !== undefined);
  return sendState(context, isReady ? 200 : 503, more);
}

function sendState(
  context: RequestContext<StartupContext>,
  status: number,
  more: { readonly readOnly?: string } = {},
): Promise<void> {
  const body = jsonBody({ status: context.app.state(), ...more });
  return sendResponse(context, {
    status,
    type: JSON_TYPE,
    headers: { ...NO_STORE, ...vary() },
    body,
  });
}
