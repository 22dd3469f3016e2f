/**
 * Results: the gateway's own words first, what visitors said behind them, apart and marked. What is
 * too long for one result comes in pieces, or is named with the way to read it; nothing is cut
 * silently.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  entryHead,
  GatewayError,
  problemDocument,
  localize,
  type Language,
  type Stamp,
  type Locale,
} from '@open-presence/protocol';

import type { Entry } from '../../log/log.ts';
import type { DoorContext } from '../context.ts';
import { isDeeper } from '../../json/limits.ts';

/** Bytes of visitors' text in one result. */
export const MAX_RESULT_SIZE: number = 64 * 1024;
/** Entries in lists are given whole up to this size. */
const LONGEST_TOLD = 16 * 1024;
/** Deeper values would break the printing of a result. */
export const DEEPEST = 500;

export type Fields = Record<string, unknown>;

/** An entry as lists have it. */
export interface Told {
  /** One line, letter by letter. */
  readonly line: string;
  readonly value: Fields;
  /** Given where only the own members are told. */
  readonly shortened?: { readonly id: string; readonly bytes: number };
}

export interface Said {
  /** The gateway's own words. */
  readonly summary: string;
  readonly own: Fields;
  /** What visitors said, as text and as values. */
  readonly lines: readonly string[];
  readonly words: Fields;
}

/** A result of both parts. */
export function resultOf(
  language: Language,
  locale: Locale | undefined,
  said: Said,
): CallToolResult {
  const { summary, own, lines, words } = said;
  const note = localize(language.labels.untrusted, locale);
  return {
    content: [
      { type: 'text', text: summary },
      ...(lines.length === 0
        ? []
        : [{ type: 'text' as const, text: marked(language, locale, lines) }]),
    ],
    structuredContent: { ...own, untrusted: { note, ...words } },
  };
}

/** What visitors said, behind the words that say whose it is. */
export function marked(
  language: Language,
  locale: Locale | undefined,
  lines: readonly string[],
): string {
  return [localize(language.labels.untrusted, locale), '', ...lines].join('\n');
}

export function stampFields(stamp: Stamp): Fields {
  return fieldsOf(`${entryHead(stamp)}}`);
}

export function fieldsOf(line: string): Fields {
  const value: unknown = JSON.parse(line);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function toldOf({ stamp, size, text }: Entry): Told {
  if (text !== undefined && size <= LONGEST_TOLD && !isDeeper(text, DEEPEST)) {
    const line = Buffer.from(text).toString();
    return { line, value: fieldsOf(line) };
  }
  const line = `${entryHead(stamp)}}`;
  return { line, value: fieldsOf(line), shortened: { id: stamp.id, bytes: size } };
}

/** Entries as one result holds them: at least one, and up to the size of a piece. */
export async function fitting(
  entries: AsyncIterator<Entry, { readonly more: boolean }, undefined>,
): Promise<{ told: Told[]; last: number | undefined; more: boolean }> {
  const told: Told[] = [];
  let last: number | undefined;
  let size = 0;
  for (;;) {
    const step = await entries.next();
    if (step.done === true) return { told, last, more: step.value.more };
    const one = toldOf(step.value);
    size += one.line.length;
    if (told.length > 0 && size > MAX_RESULT_SIZE) {
      await entries.return?.();
      return { told, last, more: true };
    }
    told.push(one);
    last = step.value.stamp.seq;
  }
}

export interface Wording {
  readonly language: Language;
  readonly locale: Locale | undefined;
}

/** Whether anything is left, and the call that reads on, or that gets later entries. */
export function howToGoOn(
  { language, locale }: Wording,
  { tool, next, more }: { readonly tool: string; readonly next: Fields | null; more: boolean },
): string {
  const { results } = language.mcp;
  if (next === null) return localize(results.end, locale);
  const given = JSON.stringify(next);
  const call = `${tool} ${given.length <= LONGEST_REPEATED ? given : '(next)'}`;
  return `${localize(more ? results.more : results.later, locale)} ${call}`;
}

const LONGEST_REPEATED = 4096;

/** Which entries are shortened, and how to read them whole; empty if none is. */
export function howToRead({ language, locale }: Wording, told: readonly Told[]): string {
  const shortened = told.flatMap((one) => (one.shortened === undefined ? [] : [one.shortened]));
  if (shortened.length === 0) return '';
  const entries = shortened.map(({ id, bytes }) => `{"id":"${id}"} (${bytes} B)`).join(', ');
  return `\n${localize(language.mcp.results.shortened, locale)} ${entries}`;
}

export function shortenedIn(told: readonly Told[]): Fields[] {
  return told.flatMap(({ shortened }) => (shortened === undefined ? [] : [{ ...shortened }]));
}

/** What was thrown, in the words of section 11. */
export function failed(
  app: DoorContext,
  locale: Locale | undefined,
  thrown: unknown,
): CallToolResult {
  const error = knownIn(app, thrown);
  const document = problemDocument(error, localize(app.language.errors[error.code], locale));
  return {
    isError: true,
    content: [
      { type: 'text', text: `${error.code}: ${error.message}` },
      { type: 'text', text: JSON.stringify(document) },
    ],
  };
}

/** What a caller can cause, as it is; what is ours as `internal`, and reported. */
export function knownIn(app: DoorContext, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  app.report.error({ err: thrown }, 'fault in the MCP door');
  return new GatewayError('internal', INTERNAL);
}

const INTERNAL =
  'The gateway failed because of a fault of its own. Try again, or tell its operator.';
