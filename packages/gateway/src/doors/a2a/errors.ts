/** What a caller is told of, in A2A's own form (PROTOCOL.md section 19.5). */
import {
  A2AError,
  RequestMalformedError,
  restStatusFor,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { GatewayError, statusOf, type Code } from '@open-presence/protocol';

import type { DoorRequest } from '../context.ts';

/** Codes that A2A has no error for, as `google.rpc.Code` has them. */
const OTHERS = {
  'not-found': 'NOT_FOUND',
  'out-of-space': 'RESOURCE_EXHAUSTED',
  unavailable: 'UNAVAILABLE',
  internal: 'INTERNAL',
} as const satisfies Partial<Record<Code, string>>;

type Other = keyof typeof OTHERS;

function isOther(code: Code): code is Other {
  return code in OTHERS;
}

class OtherError extends A2AError {
  readonly code: Other;
  override readonly reason: string;

  constructor(code: Other, message: string, metadata: Record<string, string> = { code }) {
    super({ message, metadata });
    this.code = code;
    this.reason = code.replaceAll('-', '_').toUpperCase();
  }
}

const INTERNAL =
  'The gateway failed because of a fault of its own. Try again, or tell its operator.';

/** What was thrown, as the SDK knows it; a fault of ours is reported, since the SDK would not. */
export function asA2a({ app, request }: DoorRequest, error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof GatewayError)) {
    app.report.error({ err: error, method: request.method, url: request.url }, 'fault');
    return new OtherError('internal', INTERNAL);
  }
  const { code, message } = error;
  const metadata = metadataOf(error);
  return isOther(code)
    ? new OtherError(code, message, metadata)
    : new RequestMalformedError({ message, metadata });
}

/** Names and texts, as `google.rpc.ErrorInfo` wants them: what is no text is JSON. */
function metadataOf({ code, extensions }: GatewayError): Record<string, string> {
  const more = Object.entries(extensions).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return { code, ...Object.fromEntries(more) };
}

export interface RestError {
  readonly status: number;
  /** A `google.rpc.Status`. */
  readonly body: object;
  /** Whether trying again may help, without a change. */
  readonly passes: boolean;
}

/** An error as HTTP+JSON has it. */
export function restError(error: A2AError): RestError {
  if (!(error instanceof OtherError)) {
    const status = restStatusFor(error);
    return { status, body: toRestErrorBody(error, status), passes: false };
  }
  const { code, message } = error;
  const status = statusOf(code);
  const details = [error.toErrorInfo()];
  const body = { error: { code: status, status: OTHERS[code], message, details } };
  return { status, body, passes: code === 'out-of-space' || code === 'unavailable' };
}

/** A value as JSON. Throws what a caller can mend where it is nested too deep to be printed. */
export function printed(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw new RequestMalformedError(TOO_DEEP);
    throw error;
  }
}

const TOO_DEEP =
  'Cannot read the metadata: they are nested too deeply. Put deep values into a data part.';
