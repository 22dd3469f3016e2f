/** The result of a tool, as PROTOCOL.md sections 18.4 and 18.6 have it. */
import assert from 'node:assert/strict';

import { asArray, asObject, asString, parseJson, type JsonObject } from './value.ts';

export interface Result {
  readonly isError: boolean;
  /** The blocks of text, the gateway's own first. */
  readonly texts: readonly string[];
  /** The gateway's own members. */
  readonly own: JsonObject;
  /** What visitors wrote, line by line. */
  readonly lines: readonly string[];
}

export function resultOf(result: JsonObject): Result {
  assert.equal(result['structuredContent'], undefined);
  const texts = asArray(result['content']).map((block) => asString(asObject(block)['text']));
  const [first = '', second = ''] = texts;
  return {
    isError: result['isError'] === true,
    texts,
    own: asObject(parseJson(first.split('\n').at(-1) ?? '')),
    lines: second.split('\n').slice(2),
  };
}

/** What visitors wrote, as a JSON parser reads it. */
export function said({ lines }: Result): JsonObject[] {
  return lines.map((line) => asObject(parseJson(line)));
}
