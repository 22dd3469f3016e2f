/**
 * Texts of JSON on their way through values: what a visitor said is cut out of the message as it
 * was spelled, and stands in the answer as it was spelled.
 */
import { randomUUID } from 'node:crypto';

/** Nobody outside ever sees it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/** Texts that take the place of values in an answer. */
export class Verbatim {
  readonly #texts: string[] = [];

  /** What stands for this text among values. */
  hold(text: string): string {
    return `${MARK}:${this.#texts.push(text) - 1}`;
  }

  /** The value as JSON, with the texts in their places. Forgets them. */
  print(value: unknown): string {
    const texts = this.#texts.splice(0);
    return JSON.stringify(value).replace(MARKED, (_, at) => texts[Number(at)] ?? 'null');
  }
}

/** The text of the value at a path, in a text that is JSON. Of repeated members the last counts. */
export function cut(text: string, path: readonly (string | number)[]): string | undefined {
  let at = skipSpace(text, 0);
  for (const step of path) {
    const found = childOf(text, at, step);
    if (found === undefined) return undefined;
    at = found;
  }
  return text.slice(at, valueEnd(text, at));
}

/** Where the value of a member or an element begins. */
function childOf(text: string, start: number, step: string | number): number | undefined {
  const isObject = text[start] === '{';
  if (!isObject && text[start] !== '[') return undefined;
  let found: number | undefined;
  let at = skipSpace(text, start + 1);
  for (let count = 0; text[at] !== '}' && text[at] !== ']' && at < text.length; count += 1) {
    let name: unknown = count;
    if (isObject) {
      const end = stringEnd(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (name === step) found = at;
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (SPACE.has(text[at] ?? '')) at += 1;
  return at;
}

const SPACE = new Set([' ', '\n', '\r', '\t']);

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** Behind the value, whatever is in it and however deep. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (character === ',' || SPACE.has(character))) return at;
  }
  return text.length;
}
