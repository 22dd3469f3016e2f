/** Errors as A2A represents them (PROTOCOL.md section 19.5). */
import {
  A2AError,
  RequestMalformedError,
  restStatusFor,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { GatewayError, statusOf, type Code } from '@open-presence/protocol';

import { faultError } from '../../http/response/problem.ts';
import type { DoorRequest } from '../context.ts';

/** The `google.rpc.Code` of codes that the SDK has no error for. */
const STATUSES = {
  'not-found': 'NOT_FOUND',
  'out-of-space': 'RESOURCE_EXHAUSTED',
  unavailable: 'UNAVAILABLE',
  misdirected: 'FAILED_PRECONDITION',
  internal: 'INTERNAL',
} as const satisfies Partial<Record<Code, string>>;

type StatusCode = keyof typeof STATUSES;

function hasStatus(code: Code): code is StatusCode {
  return code in STATUSES;
}

class StatusError extends A2AError {
  readonly code: StatusCode;
  override readonly reason: string;

  constructor(code: StatusCode, message: string, metadata: Record<string, string> = { code }) {
    super({ message, metadata });
    this.code = code;
    this.reason = code.replaceAll('-', '_').toUpperCase();
  }
}

/** Reports faults of the gateway, which the SDK would hide. */
export function toA2aError({ app, request }: DoorRequest, error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof GatewayError)) {
    app.report.error({ err: error, method: request.method, url: request.url }, 'fault');
    const { code, message } = faultError(error);
    return new StatusError(hasStatus(code) ? code : 'internal', message);
  }
  const { code, message } = error;
  const metadata = metadataOf(error);
  return hasStatus(code)
    ? new StatusError(code, message, metadata)
    : new RequestMalformedError({ message, metadata });
}

/** `google.rpc.ErrorInfo` has only strings: other values become JSON. */
function metadataOf({ code, extensions }: GatewayError): Record<string, string> {
  const members = Object.entries(extensions).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return { code, ...Object.fromEntries(members) };
}

export interface RestError {
  readonly status: number;
  /** A `google.rpc.Status`. */
  readonly body: object;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
}

/** An error in the HTTP+JSON binding. */
export function restError(error: A2AError): RestError {
  if (!(error instanceof StatusError)) {
    const status = restStatusFor(error);
    return { status, body: toRestErrorBody(error, status), isTransient: false };
  }
  const { code, message } = error;
  const status = statusOf(code);
  const details = [error.toErrorInfo()];
  const body = { error: { code: status, status: STATUSES[code], message, details } };
  const isTransient = code === 'out-of-space' || code === 'unavailable';
  return { status, body, isTransient };
}

/** Throws `RequestMalformedError` for a value that is nested too deeply. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw new RequestMalformedError(TOO_DEEP);
    throw error;
  }
}

const TOO_DEEP =
  'Cannot read the metadata: they are nested too deeply. Put deep values into a data part.';
