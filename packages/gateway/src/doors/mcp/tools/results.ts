/**
 * Tool results: the gateway's own text first, and what visitors wrote after it, separate and labelled
 * as untrusted. An entry that is too long for a result is shortened, and named with the call that
 * reads it whole; nothing is cut silently.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { entryHead, GatewayError, problemDocument, type Stamp } from '@open-presence/protocol';

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
/** Longer arguments are not repeated in a text, in characters. */
const MAX_REPEATED_LENGTH = 4096;

/** An entry as lists contain it. */
export interface ListedEntry {
  /** The JSON text in its portable form. */
  readonly line: string;
  readonly value: JsonObject;
  /** Set where the entry has only the gateway's members here. */
  readonly shortened?: { readonly id: string; readonly bytes: number };
}

export interface ToolResult {
  /** In the gateway's own words. */
  readonly summary: string;
  /** Structured content that the gateway vouches for. */
  readonly own: JsonObject;
  /** What visitors wrote, as text and as structured content; left out where there is none. */
  readonly lines: readonly string[];
  readonly untrusted: JsonObject;
}

export function callToolResult(
  context: Localization,
  { summary, own, lines, untrusted }: ToolResult,
): CallToolResult {
  if (lines.length === 0) {
    return { content: [{ type: 'text', text: summary }], structuredContent: own };
  }
  const note = context.text(context.language.labels.untrusted);
  const texts = [summary, untrustedText(context, lines)];
  return {
    content: texts.map((text) => ({ type: 'text', text })),
    structuredContent: { ...own, untrusted: { note, ...untrusted } },
  };
}

/** What visitors wrote, after a label that says so. */
export function untrustedText({ language, text }: Localization, lines: readonly string[]): string {
  return [text(language.labels.untrusted), '', ...lines].join('\n');
}

export function stampObject(stamp: Stamp): JsonObject {
  return parseObject(`${entryHead(stamp)}}`);
}

export function parseObject(text: string): JsonObject {
  return toJsonObject(JSON.parse(text));
}

export function listedEntry({ stamp, size, text, portability }: Entry): ListedEntry {
  if (text !== undefined && size <= MAX_LISTED_SIZE && portability !== 'omitted') {
    const line = Buffer.from(text).toString();
    return { line, value: parseObject(line) };
  }
  const line = `${entryHead(stamp)}}`;
  const bytes = omittedSize(text) ?? size;
  return { line, value: parseObject(line), shortened: { id: stamp.id, bytes } };
}

/** Bytes of the exact entry for which this stands, if it stands for one. */
function omittedSize(text: Uint8Array | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { size } = toJsonObject(parseObject(Buffer.from(text).toString())['omitted']);
  return typeof size === 'number' ? size : undefined;
}

export interface NextCall {
  readonly tool: string;
  /** Null where nothing follows, now or later. */
  readonly next: JsonObject | null;
  /** Whether there are more entries now. */
  readonly more: boolean;
}

/** Whether there is more, and the call that reads it, or that reads later entries. */
export function describeNext(
  { language, text }: Localization,
  { tool, next, more }: NextCall,
): string {
  const { results } = language.mcp;
  if (next === null) return more ? '' : text(results.end);
  const args = JSON.stringify(next);
  const call = `${tool} ${args.length <= MAX_REPEATED_LENGTH ? args : '(next)'}`;
  return `${text(more ? results.more : results.later)} ${call}`;
}

/** Which entries are shortened, and how to read them whole; empty if none is. */
export function describeShortened(
  { language, text }: Localization,
  entries: readonly ListedEntry[],
): string {
  const shortened = shortenedIn(entries);
  if (shortened.length === 0) return '';
  const calls = shortened.map(({ id, bytes }) => `{"id":"${id}"} (${bytes} B)`).join(', ');
  return `\n${text(language.mcp.results.shortened)} ${calls}`;
}

export function shortenedIn(
  entries: readonly ListedEntry[],
): NonNullable<ListedEntry['shortened']>[] {
  return entries.map(({ shortened }) => shortened).filter((entry) => entry !== undefined);
}

/** The result of a call that failed, with the problem document that HTTP would send. */
export function errorResult({ app, language, text }: ToolContext, thrown: unknown): CallToolResult {
  const error = asGatewayError(app, thrown);
  const document = problemDocument(error, text(language.errors[error.code]));
  return {
    isError: true,
    content: [
      { type: 'text', text: `${error.code}: ${error.message}` },
      { type: 'text', text: JSON.stringify(document) },
    ],
  };
}

/** Reports whatever is not a `GatewayError`, and hides it from the caller. */
export function asGatewayError(app: DoorContext, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  app.report.error({ err: thrown }, 'fault in the MCP door');
  return faultError(thrown);
}
