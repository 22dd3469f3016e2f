/**
 * Large messages of MCP: the arguments of tools that store entries stay in the file. Of other
 * arguments, those that mean something are part of the envelope.
 *
 * Invariant: A contribution through MCP becomes the entry that HTTP would make of it, byte for
 *   byte.
 * Test: `packages/gateway/src/doors/mcp/mcp.test.ts` “is kept letter by letter” “is refused in the
 *   words of HTTP, with an example that works”
 * Test: `test/mcp/large-messages.test.ts` “becomes the entry that HTTP stores, in whatever order
 *   its members come”
 */
import { runInTurn } from '../../http/request/large-message-queue.ts';
import { toJsonObject } from '../../json/json-object.ts';
import type { JsonPath } from '../../json/path-finder.ts';
import {
  MAX_ENVELOPE_SIZE,
  SMALL_MESSAGE_SIZE,
  type CutValue,
  type LargeMessage,
  type MessageShape,
} from '../large-message.ts';
import { parseMessage, tooLong, type ParsedMessage } from './json-rpc.ts';
import { CONTRIBUTION_TOOLS, READ_TOOLS, SEARCH_PARAMETERS } from './tools/tool-call.ts';

const ARGUMENTS = ['params', 'arguments'];
/** The arguments of tools that read, and of prompts. */
const READING: ReadonlySet<string> = new Set([
  ...SEARCH_PARAMETERS,
  ...READ_TOOLS.flatMap(([, parameters, others]) => [...parameters, ...others]),
  'ai_identity',
  'seeking',
]);

function argumentPaths(names: Iterable<string>): JsonPath[] {
  return [...names].flatMap((name) => pathsOf([...ARGUMENTS, name]));
}

/** In a message, or in each of a batch. */
function pathsOf(path: JsonPath): JsonPath[] {
  return [path, [null, ...path]];
}

export const SHAPE: MessageShape = {
  cut: pathsOf(ARGUMENTS),
  kept: argumentPaths(['idempotencyKey']),
  apart: argumentPaths(['furtherMembers']),
  picked: argumentPaths(READING),
};

/** Waits for its turn unless the envelope is small. */
export async function parseInTurn(
  large: LargeMessage,
  handle: (parsed: ParsedMessage, release: () => void) => Promise<void>,
): Promise<void> {
  if (large.envelopeSize <= SMALL_MESSAGE_SIZE) {
    const parsed = await parseEnvelope(large, new Set());
    if (readingArguments(large, parsed).size === 0) return await handle(parsed, () => {});
  }
  await runInTurn(async (release) => {
    const parsed = await parseEnvelope(large, new Set());
    const picked = readingArguments(large, parsed);
    await handle(picked.size === 0 ? parsed : await parseEnvelope(large, picked), release);
  });
}

async function parseEnvelope(
  large: LargeMessage,
  picked: ReadonlySet<CutValue>,
): Promise<ParsedMessage> {
  const bytes = await large.envelope((value) => picked.has(value));
  return bytes === undefined
    ? { fault: tooLong(MAX_ENVELOPE_SIZE, await large.id()) }
    : parseMessage(bytes);
}

const STORING_TOOLS: ReadonlySet<unknown> = new Set(Object.values(CONTRIBUTION_TOOLS));

/** The arguments that are not stored. */
function readingArguments(large: LargeMessage, parsed: ParsedMessage): Set<CutValue> {
  const reading = new Set<CutValue>();
  if ('fault' in parsed) return reading;
  for (const request of [parsed.message].flat()) {
    const { method, params } = toJsonObject(request);
    const { name, arguments: args } = toJsonObject(params);
    const cut = large.cutValue(args);
    const isStored = method === 'tools/call' && STORING_TOOLS.has(name);
    if (cut !== undefined && !isStored) reading.add(cut);
  }
  return reading;
}
