import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Headers } from './headers.ts';
import { matchesEtag } from '../negotiation.ts';

export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Sends 304 if the caller has what the tag identifies. Returns whether it did. */
export function sendNotModified(
  { request, response }: HttpExchange,
  tag: string | undefined,
  headers: Headers,
): boolean {
  if (!matchesEtag(request.headers['if-none-match'], tag)) return false;
  response.writeHead(304, headers);
  response.end();
  return true;
}
