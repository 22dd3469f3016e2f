/** The official suite's cases in which a server asks its caller back, in one round or several. */
import { randomBytes } from 'node:crypto';

import {
  createRequestStateCodec,
  inputRequired,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

type Round = Readonly<Record<string, InputRequest>>;

/** Which round it is, so that nobody else can say. */
export const STATE = createRequestStateCodec<number>({ key: randomBytes(32) });

function elicited(member: string): InputRequest {
  return inputRequired.elicit({
    message: `What is ${member}?`,
    requestedSchema: { type: 'object', properties: { [member]: { type: 'string' } } },
  });
}

const sampled = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'What do you hear?' } }],
  maxTokens: 100,
});

const NAME: Round = { user_name: elicited('name') };
const ROOTS: Round = { client_roots: inputRequired.listRoots() };
const SURE: Round = { confirm: elicited('ok') };

const TOOLS: Readonly<Record<string, readonly Round[]>> = {
  test_input_required_result_elicitation: [NAME],
  test_input_required_result_sampling: [{ capital_question: sampled }],
  test_input_required_result_list_roots: [ROOTS],
  test_input_required_result_request_state: [SURE],
  test_input_required_result_multiple_inputs: [{ ...NAME, ...ROOTS, greeting: sampled }],
  test_input_required_result_multi_round: [NAME, { step2: elicited('color') }],
  test_input_required_result_tampered_state: [SURE],
  test_streaming_elicitation: [NAME],
  test_missing_capability: [{ sampled }],
};

export function addAsking(server: McpServer): void {
  const content = { type: 'text' as const, text: 'state-ok' };
  const done = { content: [content] };
  const description = 'It asks back.';
  for (const [name, rounds] of Object.entries(TOOLS)) {
    server.registerTool(name, { description }, async (context) => {
      return (await roundOf(rounds, context)) ?? done;
    });
  }
  const name = 'test_input_required_result_capabilities';
  server.registerTool(name, { description }, async (context) => {
    const { sampling, elicitation } = server.server.getClientCapabilities() ?? NOTHING;
    const round = {
      ...(sampling === undefined ? {} : { sampled }),
      ...(elicitation === undefined ? {} : NAME),
    };
    return (await roundOf([round], context)) ?? done;
  });
  server.registerPrompt('test_input_required_result_prompt', { description }, async (context) => {
    const round = { user_context: elicited('context') };
    const message = { role: 'user' as const, content };
    return (await roundOf([round], context)) ?? { messages: [message] };
  });
}

const NOTHING: ClientCapabilities = {};

/** What is asked next; undefined once all is answered. */
async function roundOf(
  rounds: readonly Round[],
  { mcpReq }: ServerContext,
): Promise<InputRequiredResult | undefined> {
  const at = mcpReq.requestState<number>() ?? 0;
  const answers = mcpReq.inputResponses ?? {};
  const answered = Object.keys(rounds[at] ?? {}).every((name) => Object.hasOwn(answers, name));
  const next = answered ? at + 1 : at;
  const inputRequests = rounds[next];
  if (inputRequests === undefined) return undefined;
  return inputRequired({ inputRequests, requestState: await STATE.mint(next) });
}
