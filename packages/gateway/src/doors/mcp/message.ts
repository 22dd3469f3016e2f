/**
 * The bytes of a message, where what a visitor says must be kept letter by letter: the SDK gives
 * values, and a number or a member that is spelled twice is not the same any more.
 */
import type { Listener, ValueType } from '../../json/listener.ts';
import { Scanner } from '../../json/scanner.ts';
import { nextTurn } from '../../fair-turns.ts';

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
export async function argumentsIn(message: Buffer, id: string | number): Promise<Buffer> {
  for await (const call of callsIn(message)) {
    // What answers something has an id, too: of a request that was made here.
    if (last(call, 'method') === undefined || valueOf(last(call, 'id')) !== id) continue;
    const params = last(call, 'params');
    return (params && last(await partsOf(params), 'arguments')) ?? NOTHING;
  }
  return NOTHING;
}

/** One member of an object is taken out of it: its last value, and the object without it. */
export async function taken(
  object: Buffer,
  name: string,
): Promise<{ value: unknown; rest: Buffer }> {
  const parts = await partsOf(object);
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
async function* callsIn(message: Buffer): AsyncGenerator<readonly Part[], void, undefined> {
  const parts = await partsOf(message);
  if (parts.some(({ name }) => name !== undefined)) yield parts;
  else for (const { value } of parts) yield await partsOf(value);
}

function last(parts: readonly Part[], name: string): Buffer | undefined {
  return parts.findLast((part) => part.name === name)?.value;
}

function valueOf(text: Buffer | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text.toString());
}

/** Read in pieces, so that others have their turn in between. */
async function partsOf(bytes: Buffer): Promise<readonly Part[]> {
  const finder = new Finder(bytes);
  const scanner = new Scanner(finder);
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (at > 0) await nextTurn();
    scanner.feed(bytes.subarray(at, at + PIECE));
  }
  scanner.end();
  return finder.parts;
}

const PIECE = 1024 * 1024;

class Finder implements Listener {
  readonly parts: Part[] = [];
  readonly #bytes: Buffer;
  /** Of the piece at hand. */
  #offset = 0;
  #nameAt: number | undefined;
  #name: string | undefined;
  #valueAt = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  valueBegins(_type: ValueType, depth: number, at: number): boolean {
    if (depth === 1) this.#valueAt = this.#offset + at;
    return depth === 0;
  }

  valueEnds(depth: number, at: number): void {
    if (depth !== 1) return;
    const end = this.#offset + at;
    const value = this.#bytes.subarray(this.#valueAt, end);
    const whole = this.#bytes.subarray(this.#nameAt ?? this.#valueAt, end);
    this.parts.push({ name: this.#name, whole, value });
  }

  nameBegins(at: number): void {
    this.#nameAt = this.#offset + at;
  }

  nameEnds(at: number): void {
    this.#name = String(valueOf(this.#bytes.subarray(this.#nameAt, this.#offset + at)));
  }

  pieceBegins(_: Uint8Array, offset: number): void {
    this.#offset = offset;
  }

  pieceEnds(): void {}
  colon(): void {}
  comma(): void {}
  text(): void {}
  unit(): void {}
}
