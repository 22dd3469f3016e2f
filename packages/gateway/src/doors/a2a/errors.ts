/** What a caller is told of, in A2A's own form (PROTOCOL.md section 19.5). */
import { A2AError, RequestMalformedError, restStatusFor } from '@a2a-js/sdk/errors';
import { GatewayError, statusOf, type Code } from '@open-presence/protocol';

import type { Exchange } from '../http/exchange.ts';

/** Codes that say nothing about the request. */
const OURS: readonly Code[] = ['out-of-space', 'unavailable', 'internal'];

const INTERNAL = 'The gateway failed at this request by a fault of its own. Try again.';

/** What was thrown, as the SDK knows it; a fault of ours is reported, since the SDK would not. */
export function asA2a({ house, request }: Exchange, error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof GatewayError)) {
    house.report.error({ err: error, method: request.method, url: request.url }, 'fault');
    return new A2AError({ message: INTERNAL, metadata: { code: 'internal' } });
  }
  const options = { message: error.message, metadata: metadataOf(error) };
  return OURS.includes(error.code) ? new A2AError(options) : new RequestMalformedError(options);
}

/** Names and texts, as `google.rpc.ErrorInfo` wants them: what is no text is JSON. */
function metadataOf({ code, repair }: GatewayError): Record<string, string> {
  const more = Object.entries(repair).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return { code, ...Object.fromEntries(more) };
}

/** The status that goes with it by HTTP+JSON. */
export function restStatus(error: unknown): number {
  const code = error instanceof A2AError ? error.metadata?.['code'] : undefined;
  const ours = OURS.find((one) => one === code);
  return ours === undefined ? restStatusFor(error) : statusOf(ours);
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
  'Cannot read the metadata: they are nested too deep. What is deep goes into a data part.';
