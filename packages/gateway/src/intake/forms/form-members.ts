/**
 * Turns the fields of a form, or the parameters of a query, into the JSON text of a body
 * (PROTOCOL.md sections 7.7 and 16.1).
 *
 * Fields that fit into memory together are held until the end, so that a repeated name becomes one
 * array. A field beyond them is printed as it arrives, as a member of its own. Which fields these are
 * depends on the sizes of the fields alone, not on the pieces in which they arrive.
 */
import { isUtf8 } from 'node:buffer';

import { GatewayError, quoted, type Fault } from '@open-presence/protocol';

import { GrowingBuffer } from '../../growing-buffer.ts';
import { canonicalName } from '../../near-names.ts';
import type { FormGrammar } from '../grammar.ts';
import { MAX_FAULTS } from '../parameter-faults.ts';

/** Receives the fields of a form, in pieces that must not be changed afterwards. */
export interface FieldHandler {
  name(bytes: Uint8Array): void;
  /** Ends the name. */
  value(bytes: Uint8Array): void;
  endField(): void;
}

export interface FormOptions {
  readonly kind: FormGrammar;
  /** Names of fields that are not members. */
  readonly reserved: ReadonlySet<string>;
  /** How many bytes of names and values are held. */
  readonly maxHeld: number;
  /** How text must be encoded, for errors. */
  readonly encoding: string;
  /** Whether an empty field is no member, unless the kind requires it. */
  readonly omitEmpty?: boolean;
}

const EMPTY = Buffer.alloc(0);

export class FormMembers implements FieldHandler {
  readonly #options: FormOptions;
  readonly #arrays: ReadonlySet<string>;
  readonly #held = new Map<string, string[]>();
  #heldSize = 0;
  readonly #faults: Fault[] = [];
  /** JSON text that was not taken yet. */
  #text = '';
  #hasMembers = false;
  /** The current field. */
  #name = new GrowingBuffer();
  #value: GrowingBuffer | undefined;
  #size = 0;
  /** The current field if it is not held. */
  #printed: PrintedField | undefined;
  /** Decodes its name, then its value. */
  #decoder = newDecoder();

  constructor(options: FormOptions) {
    this.#options = options;
    const { rules } = options.kind;
    this.#arrays = new Set(
      rules.filter(({ rule }) => rule.type === 'strings').map(({ name }) => name),
    );
  }

  name(bytes: Uint8Array): void {
    if (this.#printed === undefined) this.#name.append(bytes);
    this.#add(bytes);
  }

  value(bytes: Uint8Array): void {
    if (this.#printed === undefined) (this.#value ??= new GrowingBuffer()).append(bytes);
    else if (this.#value === undefined) this.#startPrintedValue();
    this.#add(bytes);
  }

  endField(): void {
    if (this.#value === undefined) this.value(EMPTY);
    if (this.#printed === undefined) this.#hold();
    else {
      this.#decodePrinted();
      this.#text += this.#printed.isArray ? '"]' : '"';
    }
    this.#name = new GrowingBuffer();
    this.#value = undefined;
    this.#printed = undefined;
    this.#size = 0;
  }

  /** The values of a reserved name. */
  reservedValues(name: string): readonly string[] {
    return this.#held.get(name) ?? [];
  }

  /** The JSON text since the last call. Throws `invalid-parameter` for a fault in a printed field. */
  take(): Buffer {
    const text = Buffer.from(this.#text);
    this.#text = '';
    if (this.#hasMembers) this.#throwFaults();
    return text;
  }

  /** The rest of the text. Throws `invalid-parameter` for what is not UTF-8. */
  end(): Buffer {
    return Buffer.from([...this.rest()].join(''));
  }

  /** What `end` returns, in pieces: held members can be many. */
  *rest(): Generator<string, void, undefined> {
    this.#throwFaults();
    if (this.#text !== '') yield this.#text;
    let separator = this.#hasMembers ? ',' : '{';
    for (const [name, values] of this.#held) {
      if (this.#options.reserved.has(name)) continue;
      yield separator + this.#memberText(name, values);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }

  #add(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#printed !== undefined) this.#decodePrinted(bytes);
    // A name is held until its value starts, if it fits by itself: it decides about the value.
    else if (this.#size + this.#heldBesides > this.#options.maxHeld) this.#startPrinting();
  }

  get #heldBesides(): number {
    return this.#value === undefined ? 0 : this.#heldSize;
  }

  #hold(): void {
    const name = this.#fieldName();
    const value = decode(this.#value);
    if (value === '' && name !== undefined && this.#omits(name)) return;
    if (name === undefined || value === undefined) {
      this.#addFault(name);
      return;
    }
    // One for the separator, so that empty fields count too.
    this.#heldSize += Buffer.byteLength(name) + (this.#value?.length ?? 0) + 1;
    const given = name === 'to' ? namesIn(value) : [value];
    const values = this.#held.get(name);
    if (values === undefined) this.#held.set(name, given);
    else for (const one of given) values.push(one);
  }

  /** As section 6.2 spells it, if it is a known one. Undefined if it is not UTF-8. */
  #fieldName(): string | undefined {
    const name = decode(this.#name);
    const canonical = name && canonicalName(name);
    if (canonical === undefined || canonical === name) return name;
    const { kind, reserved } = this.#options;
    return kind.members.has(canonical) || reserved.has(canonical) ? canonical : name;
  }

  #omits(name: string): boolean {
    const { omitEmpty = false, kind } = this.#options;
    if (!omitEmpty) return false;
    const isRequired = kind.rules.some(({ name: ruled, rule }) => ruled === name && rule.required);
    // A list that is required may be empty.
    if (isRequired && this.#isArray(name) && !this.#held.has(name)) this.#held.set(name, []);
    return !isRequired || this.#held.has(name);
  }

  #startPrinting(): void {
    const value = this.#value;
    const name = value === undefined ? undefined : this.#fieldName();
    if (name !== undefined) this.#printHeld(name);
    this.#printed = { name, isArray: this.#isArray(name) };
    this.#startMember();
    this.#text += '"';
    this.#decodePrinted(name === undefined ? this.#name.bytes : Buffer.from(name));
    if (value === undefined) return;
    this.#startPrintedValue();
    this.#decodePrinted(value.bytes);
  }

  /** Prints the held values of a name, so that values of one name stay in order. */
  #printHeld(name: string): void {
    if (this.#options.reserved.has(name)) throw tooLong(name, this.#options.maxHeld);
    const values = this.#held.get(name);
    if (values === undefined) return;
    this.#held.delete(name);
    for (const value of values) this.#heldSize -= Buffer.byteLength(name + value) + 1;
    this.#startMember();
    this.#text += this.#memberText(name, values);
  }

  #startPrintedValue(): void {
    this.#decodePrinted();
    this.#text += this.#printed?.isArray === true ? '":["' : '":"';
    this.#value = new GrowingBuffer();
  }

  /** Without bytes: ends the name or the value. */
  #decodePrinted(bytes?: Uint8Array): void {
    try {
      const text = this.#decoder.decode(bytes, { stream: bytes !== undefined });
      this.#text += JSON.stringify(text).slice(1, -1);
    } catch {
      this.#decoder = newDecoder();
      this.#addFault(this.#printed?.name);
    }
  }

  #startMember(): void {
    this.#text += this.#hasMembers ? ',' : '{';
    this.#hasMembers = true;
  }

  #isArray(name: string | undefined): boolean {
    return name !== undefined && this.#arrays.has(name);
  }

  #memberText(name: string, values: readonly string[]): string {
    const isString = values.length === 1 && !this.#isArray(name);
    return `${JSON.stringify(name)}:${JSON.stringify(isString ? values[0] : values)}`;
  }

  #addFault(name: string | undefined): void {
    const subject = name === undefined ? 'the name of a field' : quoted(name);
    const detail = `${subject} must be text in UTF-8, ${this.#options.encoding}`;
    this.#faults.push(name === undefined ? { detail } : { parameter: name, detail });
    if (this.#faults.length === MAX_FAULTS) this.#throwFaults();
  }

  #throwFaults(): void {
    if (this.#faults.length > 0) throw formError(this.#options.kind, this.#faults);
  }
}

/** One field may have several names, as people write them. */
function namesIn(to: string): string[] {
  const names = to.split(',').map((name) => name.trim());
  return names.every((name) => name !== '') ? names : [to];
}

/** A field that is printed as it arrives. */
interface PrintedField {
  /** Undefined if it is too long to be held. */
  readonly name: string | undefined;
  readonly isArray: boolean;
}

/** The error for a form, or a query, that cannot be read. */
export function formError(
  { kind, what = `entry of kind "${kind}"` }: FormGrammar,
  faults: readonly Fault[],
): GatewayError {
  const sentence = faults.map(({ detail }) => detail).join('; ');
  const message = `Cannot store the ${what}: ${sentence}`;
  return new GatewayError('invalid-parameter', message, { faults });
}

function tooLong(parameter: string, max: number): GatewayError {
  const detail = `"${parameter}" must have at most ${max} bytes in a form, together with the fields before it; a longer one can be sent as the header "Idempotency-Key"`;
  const message = `Cannot store the entry: ${detail}.`;
  return new GatewayError('invalid-parameter', message, { faults: [{ parameter, detail }] });
}

function newDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
}

/** Undefined if the bytes are not UTF-8. */
function decode({ bytes }: GrowingBuffer = new GrowingBuffer()): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
