/** Errors as A2A represents them (PROTOCOL.md section 19.5). */
import { A2AError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { GatewayError, type Code } from '@open-presence/protocol';

import { faultError } from '../../http/response/problem.ts';
import type { DoorRequest } from '../context.ts';

const OURS: ReadonlySet<Code> = new Set(['not-found', 'out-of-space', 'unavailable', 'internal']);

class StatusError extends A2AError {
  override readonly reason: string;

  constructor({ code, message, extensions }: GatewayError) {
    super({ message, metadata: { code, ...textsOf(extensions) } });
    this.reason = code.replaceAll('-', '_').toUpperCase();
  }
}

/** Reports faults of the gateway, which the SDK would hide. */
export function toA2aError({ app, request }: DoorRequest, error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof GatewayError)) {
    app.report.error({ err: error, method: request.method, url: request.url }, 'fault');
    return new StatusError(faultError(error));
  }
  const { code, message, extensions } = error;
  return OURS.has(code)
    ? new StatusError(error)
    : new RequestMalformedError({ message, metadata: { code, ...textsOf(extensions) } });
}

/** `google.rpc.ErrorInfo` has only strings: other values become JSON. */
function textsOf(extensions: object): Record<string, string> {
  const members = Object.entries(extensions).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return Object.fromEntries(members);
}
