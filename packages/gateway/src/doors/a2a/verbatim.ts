/**
 * Texts of JSON on their way through values: what a visitor said is cut out of the message as it
 * was spelled, and stands in the answer as it was spelled.
 */
import { randomUUID } from 'node:crypto';

/** Nobody outside ever sees it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/** Texts that take the place of values in an answer. */
export class RawJson {
  readonly #texts: string[] = [];

  /** What stands for this text among values. */
  hold(text: string): string {
    return `${MARK}:${this.#texts.push(text) - 1}`;
  }

  /** The value as JSON, with the texts in their places. Forgets them. */
  print(value: unknown): string {
    const text = this.spell(value);
    this.#texts.splice(0);
    return text;
  }

  /** The same, to be said within another value. */
  spell(value: unknown): string {
    return JSON.stringify(value).replace(MARKED, (_, at) => this.#texts[Number(at)] ?? 'null');
  }
}

/** The text of the value at a path, in a text that is JSON. Of repeated members the last counts. */
export function cut(text: string, path: readonly string[]): string | undefined {
  const at = placeOf(text, path);
  return at === undefined ? undefined : text.slice(at, valueEnd(text, at));
}

/** Of each element of the array at a path, the text of its member of a name. Read in one go. */
export function cutEach(
  text: string,
  path: readonly string[],
  name: string,
): (string | undefined)[] {
  const at = placeOf(text, path);
  if (at === undefined || text[at] !== '[') return [];
  return Array.from(children(text, at), (child) => {
    const value = childOf(text, child.at, name);
    return value === undefined ? undefined : text.slice(value, valueEnd(text, value));
  });
}

function placeOf(text: string, path: readonly string[]): number | undefined {
  let at: number | undefined = skipSpace(text, 0);
  for (const step of path) at = at === undefined ? undefined : childOf(text, at, step);
  return at;
}

/** Where the value of a member begins. */
function childOf(text: string, start: number, wanted: string): number | undefined {
  if (text[start] !== '{') return undefined;
  let found: number | undefined;
  for (const { name, at } of children(text, start)) if (name === wanted) found = at;
  return found;
}

interface Child {
  /** Undefined in an array. */
  readonly name: unknown;
  /** Where its value begins. */
  readonly at: number;
}

/** The members of an object or the elements of an array. */
function* children(text: string, start: number): Generator<Child, void, undefined> {
  const isObject = text[start] === '{';
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']' && at < text.length) {
    let name: unknown;
    if (isObject) {
      const end = stringEnd(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    yield { name, at };
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
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
