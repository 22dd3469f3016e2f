/** JSON texts byte for byte: cut out of a message, or inserted into one, without parsing them. */
import { randomUUID } from 'node:crypto';

import { nextTurn, yieldPeriodically } from '../fair-turns.ts';
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/** A member of an object or an element of an array. Offsets are in bytes. */
export interface RawMember {
  readonly name: string | undefined;
  /** Where the name starts, or else the value. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** Bytes that are read in one turn. */
const PIECE = 1024 * 1024;

/** What the outermost object or array has; nothing for another value. Throws `malformed-json`. */
export async function rawMembers(bytes: Buffer): Promise<readonly RawMember[]> {
  const handler = new MemberHandler(bytes);
  const scanner = new JsonScanner(handler);
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (at > 0) await nextTurn();
    scanner.feed(bytes.subarray(at, at + PIECE));
  }
  scanner.end();
  return handler.members;
}

/** The value at a path of member names. Of members with the same name the last one counts. */
export async function rawValue(
  bytes: Buffer,
  path: readonly string[],
): Promise<Buffer | undefined> {
  let value: Buffer | undefined = bytes;
  for (const name of path) {
    value = value && lastValue(value, await rawMembers(value), name);
  }
  return value;
}

/** The value of the member with this name in each element of an array. */
export async function rawValueOfEach(array: Buffer, name: string): Promise<(Buffer | undefined)[]> {
  const fair = yieldPeriodically();
  const values: (Buffer | undefined)[] = [];
  for (const { valueStart, end } of await rawMembers(array)) {
    values.push(await rawValue(array.subarray(valueStart, end), [name]));
    await fair();
  }
  return values;
}

/** The value of the last member with this name, out of the bytes that the members were read from. */
export function lastValue(
  bytes: Buffer,
  members: readonly RawMember[],
  name: string,
): Buffer | undefined {
  const member = members.findLast((each) => each.name === name);
  return member && bytes.subarray(member.valueStart, member.end);
}

class MemberHandler extends JsonHandler {
  readonly members: RawMember[] = [];
  readonly #bytes: Buffer;
  #name: string | undefined;
  #nameStart: number | undefined;
  #valueStart = 0;

  constructor(bytes: Buffer) {
    super();
    this.#bytes = bytes;
  }

  override startValue(_: ValueType, depth: number, at: number): boolean {
    if (depth === 1) this.#valueStart = this.offset + at;
    return depth === 0;
  }

  override endValue(depth: number, at: number): void {
    if (depth !== 1) return;
    const valueStart = this.#valueStart;
    const start = this.#nameStart ?? valueStart;
    this.members.push({ name: this.#name, start, valueStart, end: this.offset + at });
  }

  override startName(at: number): boolean {
    this.#nameStart = this.offset + at;
    return false;
  }

  override endName(at: number): void {
    const name = this.#bytes.toString('utf8', this.#nameStart, this.offset + at);
    this.#name = String(JSON.parse(name));
  }
}

/** Marks a placeholder. No visitor ever sees it. */
const MARK = randomUUID();
const PLACEHOLDER = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/** Texts that replace placeholders when the value around them is printed. */
export class RawJson {
  readonly #texts: string[] = [];

  /** A string to put into a value where this text shall stand. */
  placeholder(text: string): string {
    return `${MARK}:${this.#texts.push(text) - 1}`;
  }

  /** May be called for a part of a value: the placeholders stay in use. */
  stringify(value: unknown): string {
    return JSON.stringify(value).replace(PLACEHOLDER, (_, at) => this.#texts[Number(at)] ?? 'null');
  }

  /** Ends the use of all placeholders, so that an endless stream of values holds no texts. */
  stringifyLast(value: unknown): string {
    const text = this.stringify(value);
    this.#texts.splice(0);
    return text;
  }
}
