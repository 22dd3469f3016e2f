/** What a caller is told of, in A2A's own form (PROTOCOL.md section 19.5). */
import { A2AError, RequestMalformedError, restStatusFor } from '@a2a-js/sdk/errors';
import { GatewayError, statusOf, type Code } from '@open-presence/protocol';

/** Codes that say nothing about the request. */
const OURS: readonly Code[] = ['out-of-space', 'unavailable', 'internal'];

/** What was thrown, as the SDK knows it. Whatever else it is stays, and is a fault of ours. */
export function asA2a(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
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
