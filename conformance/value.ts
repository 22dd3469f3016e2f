/** Narrowing of what comes from outside. Each throws where the value is not what it should be. */
import assert from 'node:assert/strict';

export type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fields(value: unknown): Fields {
  assert.ok(isFields(value), `an object is wanted, not ${brief(value)}`);
  return value;
}

export function list(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value), `an array is wanted, not ${brief(value)}`);
  return value;
}

export function text(value: unknown): string {
  assert.ok(typeof value === 'string', `a string is wanted, not ${brief(value)}`);
  return value;
}

/** A string with more than white space in it. */
export function words(value: unknown): string {
  assert.match(text(value), /\S/);
  return text(value);
}

export function whole(value: unknown): number {
  assert.ok(
    typeof value === 'number' && Number.isSafeInteger(value),
    `a whole number is wanted, not ${brief(value)}`,
  );
  return value;
}

export function parse(json: string): unknown {
  return JSON.parse(json);
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}
