/** Where the members of a JSON text are, so that they can be compared byte for byte. */
import { nextTurn } from '../fair-turns.ts';
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
