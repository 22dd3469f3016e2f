/**
 * Tool results: first the gateway's own text, then what visitors wrote, separate and labelled as
 * untrusted. Nothing is said twice, and nothing is cut silently: an entry that is too long for a result is
 * shortened, and named with the call that reads it whole.
 *
 * Invariant: A result keeps visitors’ text apart from the gateway’s, marks it, says it once, and
 *   never cuts it silently.
 * Test: `packages/gateway/src/doors/mcp/tools/listing-tools.test.ts` “names what is too long or too
 *   deep for a list, and how to read it”
 * Test: `test/mcp/clients.test.ts` “…: every tool, resource and prompt”
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  entryHead,
  GatewayError,
  portableJson,
  problemDocument,
  type EntryMetadata,
} from '@open-presence/protocol';

import { faultError } from '../../../http/response/problem.ts';
import type { Localization } from '../../../http/route-description.ts';
import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import type { Entry } from '../../../log/log.ts';
import type { DoorContext } from '../../context.ts';
import type { ToolContext } from './tool-call.ts';

/** About how many bytes of visitors' text one result contains. */
export const MAX_RESULT_SIZE: number = 64 * 1024;
/** Larger entries are shortened in lists, in bytes. */
const MAX_LISTED_SIZE = 16 * 1024;

/** An entry as lists contain it. */
export interface ListedEntry {
  /** The JSON text in its portable form. */
  readonly line: string;
  /** Set where the entry has only the gateway's members here. */
  readonly shortened?: { readonly seq: number; readonly bytes: number };
}

export interface ToolResult {
  /** Sentences of the gateway; may be empty. */
  readonly summary: string;
  /** Members that the gateway vouches for. */
  readonly own: JsonObject;
  /** What visitors wrote. */
  readonly lines: readonly string[];
}

/** Without `structuredContent`, which would repeat the texts: some clients show both. */
export function callToolResult(context: ToolContext, result: ToolResult): CallToolResult {
  return { content: resultTexts(context, result).map((text) => ({ type: 'text', text })) };
}

/** The gateway's sentences and, in the last line, its members. Visitors' words follow, if there are any. */
export function resultTexts(
  context: Localization,
  { summary, own, lines }: ToolResult,
): readonly string[] {
  const members = portableJson(own);
  const first = summary === '' ? members : `${summary}\n${members}`;
  return lines.length === 0 ? [first] : [first, untrustedText(context, lines)];
}

/** What visitors wrote, after a label that says so. */
function untrustedText({ language, text }: Localization, lines: readonly string[]): string {
  return [text(language.labels.untrusted), '', ...lines].join('\n');
}

export function stampObject(metadata: EntryMetadata): JsonObject {
  return parseObject(`${entryHead(metadata)}}`);
}

function parseObject(text: string): JsonObject {
  return toJsonObject(JSON.parse(text));
}

export function listedEntry({ metadata, size, text, portability }: Entry): ListedEntry {
  const isOmitted = portability === 'omitted';
  if (text !== undefined && size <= MAX_LISTED_SIZE && !isOmitted) {
    return { line: Buffer.from(text).toString() };
  }
  const bytes = isOmitted && text !== undefined ? omittedSize(text) : size;
  return { line: `${entryHead(metadata)}}`, shortened: { seq: metadata.seq, bytes } };
}

/** Bytes of the exact entry for which this stands. */
function omittedSize(text: Uint8Array): number {
  const { omitted } = parseObject(Buffer.from(text).toString());
  return Number(toJsonObject(omitted)['size']);
}

/** An entry in a list is named by its seq, which takes an agent fewer tokens. */
export function withoutId(line: string): string {
  return line.replace(/^\{"id":"[^"]*",/, '{');
}

/** The result of a failed call: the problem document that HTTP would send, with its detail said once. */
export function errorResult(context: ToolContext, thrown: unknown): CallToolResult {
  const { app, language, text } = context;
  const error = asGatewayError(app, thrown);
  const { detail, ...members } = problemDocument(error, text(language.errors[error.code]));
  const summary = `${error.code}: ${String(detail)}`;
  const faults = error.extensions.faults?.map(({ pointer, parameter }) => ({ pointer, parameter }));
  const own = { ...members, faults };
  return { ...callToolResult(context, { summary, own, lines: [] }), isError: true };
}

/** Reports whatever is not a `GatewayError`, and hides it from the caller. */
export function asGatewayError(app: DoorContext, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  app.report.error({ err: thrown }, 'fault in the MCP door');
  return faultError(thrown);
}
