/** How MCP and A2A receive a JSON-RPC message: whole, and up to 1 MiB. What is longer is stored by `POST`. */
import { GatewayError } from '@open-presence/protocol';

import { isDisconnected } from '../http/context.ts';
import { discardBody, readBody } from '../http/request/request-body.ts';
import { sendError } from '../http/response/problem.ts';
import type { DoorRequest } from './context.ts';

/** In bytes. */
const MAX_SIZE = 1024 * 1024;
const TOO_LONG =
  'Cannot read the message: it may have up to 1 MiB here. POST a longer entry to /api/resonance, /api/garden, /api/seeds or /api/shepit, which take any length.';

interface MessageReceiver {
  readonly handle: (message: unknown) => Promise<void>;
  /** Answers a body that is too long, cannot be decoded, or is not JSON. */
  readonly refuse: (error: GatewayError) => Promise<void>;
}

export function receiveMessage(context: DoorRequest, { handle, refuse }: MessageReceiver): void {
  const { request } = context;
  const settle = (handled: Promise<void>): void => {
    void handled
      .catch((error: unknown) => {
        if (!isDisconnected(context)) sendError(context, error);
      })
      .then(() => discardBody(request));
  };
  readBody(request, MAX_SIZE, {
    onSmall: (bytes) => {
      try {
        settle(handle(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))));
      } catch {
        settle(
          refuse(
            new GatewayError(
              'malformed-json',
              'Cannot read the message: it must be JSON in UTF-8.',
            ),
          ),
        );
      }
    },
    onLarge: () => settle(refuse(new GatewayError('invalid-entry', TOO_LONG))),
    onError: (error) => settle(refuse(error)),
  });
}
