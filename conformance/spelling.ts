/**
 * JSON as it is spelled. `JSON.parse` forgets order, duplicates and spellings, which the contract
 * keeps, so the members of an object are cut from its text here.
 */
import assert from 'node:assert/strict';

import { parseJson, asString } from './value.ts';

export interface Member {
  /** With escapes resolved. */
  readonly name: string;
  /** The name's own text, with its quotes. */
  readonly spelled: string;
  /** The value's own text, without the white space around it. */
  readonly value: string;
}

/** The members of the object that a JSON text is, in order, duplicates included. */
export function members(json: string): Member[] {
  const found: Member[] = [];
  let at = json.indexOf('{') + 1;
  for (;;) {
    const start = json.indexOf('"', at);
    const brace = json.indexOf('}', at);
    if (start < 0 || brace < start) return found;
    const colon = partEnd(json, start, ':');
    const spelled = json.slice(start, colon).trimEnd();
    at = partEnd(json, colon + 1, ',}');
    found.push({
      name: asString(parseJson(spelled)),
      spelled,
      value: json.slice(colon + 1, at).trim(),
    });
    at += 1;
  }
}

/** The texts of the elements of the array that a JSON text is. */
export function elements(json: string): string[] {
  const found: string[] = [];
  let at = json.indexOf('[') + 1;
  for (;;) {
    const end = partEnd(json, at, ',]');
    const element = json.slice(at, end).trim();
    if (element !== '') found.push(element);
    if (json.charAt(end) === ']') return found;
    at = end + 1;
  }
}

/** Where the first of some characters stands outside of strings, arrays and objects. */
function partEnd(json: string, start: number, ends: string): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (depth === 0 && ends.includes(char)) return at;
    else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
  }
  return assert.fail('the object does not end');
}
