/** Narrowing of what comes from outside. Each throws where the value is not what it should be. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';

export type JsonObject = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  if (isFields(value)) return value;
  return wanted('an object is wanted', value);
}

export function asArray(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return wanted('an array is wanted', value);
}

export function asString(value: unknown): string {
  if (typeof value === 'string') return value;
  return wanted('a string is wanted', value);
}

/** A string with more than white space in it. */
export function asNonBlank(value: unknown): string {
  assert.match(asString(value), /\S/);
  return asString(value);
}

export function asInteger(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  return wanted('a whole number is wanted', value);
}

/** The member of this name of each of them. */
export function pluck<Item, Name extends keyof Item>(
  items: readonly Item[],
  name: Name,
): Item[Name][] {
  return items.map((item) => item[name]);
}

export function parseJson(json: string): unknown {
  return JSON.parse(json);
}

function wanted(what: string, value: unknown): never {
  assert.fail(`${what}, not ${inspect(value, { depth: 1, maxStringLength: 200 })}`);
}
