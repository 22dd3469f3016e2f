/**
 * The bytes of a message, where what a visitor says must be kept letter by letter: the SDK gives
 * values, and a number or a member that is spelled twice is not the same any more.
 */
import type { Listener, ValueType } from '../../intake/listener.ts';
import { Scanner } from '../../intake/scanner.ts';

/** A member of the outermost object, or an element of the outermost array. */
interface Part {
  /** Undefined for an element. */
  readonly name: string | undefined;
  /** Name and value. */
  readonly whole: Buffer;
  readonly value: Buffer;
}

const NOTHING = Buffer.from('{}');

/** The arguments of the call that has this id, as they were spelled. */
export function argumentsIn(message: Buffer, id: string | number): Buffer {
  for (const call of messagesIn(message)) {
    if (valueOf(last(call, 'id')) !== id) continue;
    const params = last(call, 'params');
    return (params === undefined ? undefined : last(params, 'arguments')) ?? NOTHING;
  }
  return NOTHING;
}

/** One member of an object is taken out of it: its last value, and the object without it. */
export function taken(object: Buffer, name: string): { value: unknown; rest: Buffer } {
  const parts = partsOf(object);
  const found = parts.findLast((part) => part.name === name);
  if (found === undefined) return { value: undefined, rest: object };
  const others = parts.filter((part) => part.name !== name);
  const kept = others.flatMap(({ whole }, at) => (at === 0 ? [whole] : [COMMA, whole]));
  return { value: valueOf(found.value), rest: Buffer.concat([OPEN, ...kept, CLOSE]) };
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** Before 2025-06-18, several could be sent as one array. */
function messagesIn(message: Buffer): Buffer[] {
  const parts = partsOf(message);
  return parts.some(({ name }) => name !== undefined) ? [message] : parts.map(({ value }) => value);
}

function last(object: Buffer, name: string): Buffer | undefined {
  return partsOf(object).findLast((part) => part.name === name)?.value;
}

function valueOf(text: Buffer | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text.toString());
}

function partsOf(bytes: Buffer): Part[] {
  const finder = new Finder(bytes);
  const scanner = new Scanner(finder);
  scanner.feed(bytes);
  scanner.end();
  return finder.parts;
}

class Finder implements Listener {
  readonly parts: Part[] = [];
  readonly #bytes: Buffer;
  #nameAt: number | undefined;
  #name: string | undefined;
  #valueAt = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  valueBegins(_type: ValueType, depth: number, at: number): boolean {
    if (depth === 1) this.#valueAt = at;
    return depth === 0;
  }

  valueEnds(depth: number, at: number): void {
    if (depth !== 1) return;
    const value = this.#bytes.subarray(this.#valueAt, at);
    const whole = this.#bytes.subarray(this.#nameAt ?? this.#valueAt, at);
    this.parts.push({ name: this.#name, whole, value });
  }

  nameBegins(at: number): void {
    this.#nameAt = at;
  }

  nameEnds(at: number): void {
    this.#name = String(valueOf(this.#bytes.subarray(this.#nameAt, at)));
  }

  pieceBegins(): void {}
  pieceEnds(): void {}
  colon(): void {}
  comma(): void {}
  text(): void {}
  unit(): void {}
}
