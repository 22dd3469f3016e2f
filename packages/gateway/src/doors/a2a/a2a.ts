/**
 * The A2A door (PROTOCOL.md section 19): the operations of the gateway for agents that use
 * Agent2Agent.
 *
 * Owns the mapping between HTTP requests and the SDK. It holds no state between
 * requests: the id of a task contains the whole task. The memory that a request takes does not grow
 * with the contents of its message.
 *
 * Invariant: Data from agents is stored byte for byte, returned in portable form, and marked as
 *   unverified.
 * Test: `test/a2a/wire.test.ts` “keeps data letter by letter, and tells it so that any reader can
 *   read it”
 * Test: `test/a2a/large-messages.test.ts` “stores its parts as they were spelled, by every binding”
 *
 * Invariant: Nothing of the SDK is loaded before the first request that needs it. Agent cards do
 *   not need it.
 * Test: `packages/gateway/src/doors/a2a/a2a.test.ts` “needs no SDK, nor does anything before
 *   somebody speaks A2A”
 */
import { JSON_RPC_PATH, REST_PATH } from '@open-presence/protocol';

import { takenNames } from '../../http/parameters/parameter-check.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { sendResponse, contentHash, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE } from '../../http/response/headers.ts';
import {
  localizationFor,
  type DoorHandler,
  type DoorRequest,
  type ProtocolDoor,
} from '../context.ts';
import { A2A_TYPE, cardOf } from './agent-card.ts';
import { receiveRequest } from './received-request.ts';
import type { RestResource } from './rest.ts';

const TASK_PATH = `${REST_PATH}/tasks/{id}`;

const TASK_PARAMETERS = ['as', 'A2A-Version', 'historyLength', 'tenant'];
/** Those of this contract would be lost in the query; a task's are the specification's. */
const postParameters = takenNames(TASK_PARAMETERS, {
  'idempotency-key': 'the key is "idempotencyKey" in the metadata of the message, or the header',
});
const CARD = [
  { type: 'application/json', handle: agentCard, taken: takenNames(['as', 'A2A-Version']) },
];
const TASK = [{ type: A2A_TYPE, handle: rest('task'), taken: takenNames(TASK_PARAMETERS) }];
const LIST = [
  {
    type: A2A_TYPE,
    handle: rest('list'),
    taken: takenNames([
      ...TASK_PARAMETERS,
      'contextId',
      'status',
      'statusTimestampAfter',
      'includeArtifacts',
      'pageSize',
      'pageToken',
    ]),
  },
];

export const a2aDoor: ProtocolDoor = {
  routes: [
    {
      path: '/.well-known/agent-card.json',
      get: CARD,
      description: { id: 'agentCard', parameters: ['as'] },
    },
    {
      path: '/.well-known/agent.json',
      get: CARD,
      description: { parameters: ['as'] },
    },
    {
      path: JSON_RPC_PATH,
      get: CARD,
      post: jsonRpc,
      postParameters,
      description: { id: 'a2a' },
    },
    ...(['send', 'stream'] as const).map((verb) => ({
      path: `${REST_PATH}/message:${verb}`,
      get: CARD,
      post: rest(verb),
      postParameters,
    })),
    { path: `${REST_PATH}/tasks`, get: LIST },
    {
      path: TASK_PATH,
      get: TASK,
      post: rest('task'),
      postParameters,
    },
  ],
  notFound: { paths: new RegExp(`^${REST_PATH}/`), handle: rest('unknown') },
};

async function agentCard(context: DoorRequest): Promise<void> {
  const localization = localizationFor(context);
  const body = jsonBody(cardOf(localization, publicAddressOf(context)));
  const headers = { ...NO_CACHE, ...contentLanguage(localization.locale, 'Host') };
  const tag = `W/"${contentHash(body)}"`;
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

function jsonRpc(context: DoorRequest): void {
  receiveRequest(context, ['params', 'message'], async (received) => {
    const { handleJsonRpc } = await import('./json-rpc.ts');
    await handleJsonRpc(context, received);
  });
}

function rest(resource: RestResource): DoorHandler {
  return (context) => {
    receiveRequest(context, ['message'], async (received) => {
      const { handleRest } = await import('./rest.ts');
      await handleRest(context, resource, received);
    });
  };
}
