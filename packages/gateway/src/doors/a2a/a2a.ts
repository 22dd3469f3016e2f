/**
 * The A2A door (PROTOCOL.md section 19): the operations of the gateway for agents that use Agent2Agent 1.0, by
 * JSON-RPC. It holds no state between requests: the id of a task contains the whole task.
 *
 * Invariant: Nothing of the SDK is loaded before the first request that needs it. Agent cards do
 *   not need it.
 * Test: `packages/gateway/src/doors/a2a/a2a.test.ts` “needs no SDK, nor does anything before
 *   somebody speaks A2A”
 */
import { JSON_RPC_PATH } from '@open-presence/protocol';

import { takenNames } from '../../http/parameters/parameter-check.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { sendResponse, contentHash, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE, NO_STORE } from '../../http/response/headers.ts';
import { localizationFor, type DoorRequest, type ProtocolDoor } from '../context.ts';
import { receiveMessage } from '../json-message.ts';
import { cardOf } from './agent-card.ts';

const CARD = [
  { type: 'application/json', handle: agentCard, taken: takenNames(['as', 'A2A-Version']) },
];

export const a2aDoor: ProtocolDoor = {
  routes: [
    {
      path: '/.well-known/agent-card.json',
      get: CARD,
      description: { id: 'agentCard', parameters: ['as'] },
    },
    {
      path: JSON_RPC_PATH,
      get: CARD,
      post: jsonRpc,
      postParameters: takenNames(['as', 'A2A-Version'], {
        'idempotency-key':
          'the key is "idempotencyKey" in the metadata of the message, or the header',
      }),
      description: { id: 'a2a' },
    },
  ],
};

async function agentCard(context: DoorRequest): Promise<void> {
  const localization = localizationFor(context);
  const body = jsonBody(cardOf(localization, publicAddressOf(context)));
  const headers = { ...NO_CACHE, ...contentLanguage(localization.locale, 'Host') };
  const tag = `W/"${contentHash(body)}"`;
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

function jsonRpc(context: DoorRequest): void {
  receiveMessage(context, {
    async handle(message, changed) {
      const { handleJsonRpc } = await import('./json-rpc.ts');
      await handleJsonRpc(context, message, changed);
    },
    async refuse({ code, message }) {
      const error = { code: code === 'malformed-json' ? -32_700 : -32_600, message };
      const body = jsonBody({ jsonrpc: '2.0', id: null, error });
      await sendResponse(context, { status: 200, type: JSON_TYPE, headers: NO_STORE, body });
    },
  });
}
