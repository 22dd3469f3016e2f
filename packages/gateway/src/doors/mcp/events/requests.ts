/**
 * The requests of MCP Events that have one answer (PROTOCOL.md section 18.10). `stream.ts` owns `events/stream`.
 * The SDK gets that request only if it cannot be a stream.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod/v4';

import type { Localization } from '../../../http/route-description.ts';
import type { ToolContext } from '../tools/tool-call.ts';
import { listEventTypes } from './event-types.ts';
import { pollEvents } from './poll.ts';
import { eventError } from './stream.ts';

/** The gateway reads them itself: its errors say how to repair the request. */
const params = z.looseObject({});
/** The extension's code for a way of delivery that an event type does not have. */
const UNSUPPORTED = -32_014;
const NO_WEBHOOKS =
  'There are no webhooks here: a callback belongs to somebody who is known, and nobody has to be. Call events/poll, or keep events/stream open; both go on from a cursor.';
const ALONE = 'Send events/stream alone: a batch is answered once, and a stream goes on.';

export function handleEvents(
  server: Server,
  localization: Localization,
  contextOf: (context: ServerContext) => ToolContext,
): void {
  server.setRequestHandler('events/list', { params }, () => ({
    events: listEventTypes(localization),
  }));
  server.setRequestHandler('events/poll', { params }, async (given, serverContext) => {
    const context = contextOf(serverContext);
    try {
      return await pollEvents(context, given);
    } catch (error) {
      throw eventError(context.app, error);
    }
  });
  server.setRequestHandler('events/stream', { params }, () => {
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, ALONE);
  });
  server.setRequestHandler('events/subscribe', { params }, () => {
    const data = { feature: 'deliveryMode', value: 'webhook' };
    throw new ProtocolError(UNSUPPORTED, NO_WEBHOOKS, data);
  });
}
