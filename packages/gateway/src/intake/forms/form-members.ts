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

/** In bytes. A name is held, whatever its value is. */
const MAX_NAME = 64 * 1024;

export class FormMembers implements FieldHandler {
  readonly #options: FormOptions;
  readonly #held = new Map<string, string[]>();
  #heldSize = 0;
  readonly #faults: Fault[] = [];
  /** JSON text that was not taken yet. */
  #text = '';
  #separator = '{';
  #name = new GrowingBuffer();
  #value = new GrowingBuffer();
  /** Prints the value of the current field; undefined while the field is held. */
  #printer: ValuePrinter | undefined;

  constructor(options: FormOptions) {
    this.#options = options;
  }

  name(bytes: Uint8Array): void {
    this.#name.append(bytes);
    if (this.#name.length <= MAX_NAME) return;
    const detail = `the name of a field must have at most ${MAX_NAME} bytes`;
    throw formError(this.#options.kind, [{ detail }]);
  }

  value(bytes: Uint8Array): void {
    if (this.#printer !== undefined) {
      this.#print(bytes);
      return;
    }
    this.#value.append(bytes);
    const size = this.#heldSize + this.#name.length + this.#value.length;
    if (size > this.#options.maxHeld) this.#startPrinting();
  }

  endField(): void {
    if (this.#printer === undefined) this.#hold();
    else {
      this.#print();
      this.#text += this.#printer.end;
    }
    this.#name = new GrowingBuffer();
    this.#value = new GrowingBuffer();
    this.#printer = undefined;
  }

  /** The values of a reserved name. */
  reservedValues(name: string): readonly string[] {
    return this.#held.get(name) ?? [];
  }

  /** The JSON text since the last call. */
  take(): Buffer {
    const text = Buffer.from(this.#text);
    this.#text = '';
    return text;
  }

  /** The rest of the text. Throws `invalid-parameter` for what is not UTF-8. */
  end(): Buffer {
    if (this.#faults.length > 0) throw formError(this.#options.kind, this.#faults);
    const parts = [this.#text];
    for (const [name, values] of this.#held) {
      if (this.#options.reserved.has(name)) continue;
      parts.push(this.#separator + this.#memberText(name, values));
      this.#separator = ',';
    }
    return Buffer.from(`${parts.join('')}${this.#separator === '{' ? '{}' : '}'}`);
  }

  #hold(): void {
    const name = this.#fieldName();
    const value = textOf(this.#value);
    if (name === undefined || value === undefined) {
      this.#faults.push(this.#encodingFault(name));
      if (this.#faults.length === MAX_FAULTS) this.end();
      return;
    }
    if (value === '' && this.#omits(name)) return;
    // One for the separator, so that empty fields count too.
    this.#heldSize += Buffer.byteLength(name) + this.#value.length + 1;
    const given = name === 'to' ? namesIn(value) : [value];
    const values = this.#held.get(name);
    if (values === undefined) this.#held.set(name, given);
    else values.push(...given);
  }

  /** As section 6.2 spells it, if it is a known one. Undefined if it is not UTF-8. */
  #fieldName(): string | undefined {
    const name = textOf(this.#name);
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

  /** Earlier values of the name are printed before it, so that they stay in order. */
  #startPrinting(): void {
    const name = this.#fieldName();
    const { kind, maxHeld, reserved } = this.#options;
    if (name === undefined) throw formError(kind, [...this.#faults, this.#encodingFault(name)]);
    if (reserved.has(name)) throw tooLong(name, maxHeld);
    const earlier = this.#held.get(name);
    if (earlier !== undefined) {
      this.#held.delete(name);
      for (const value of earlier) this.#heldSize -= Buffer.byteLength(name + value) + 1;
      this.#text += this.#separator + this.#memberText(name, earlier);
      this.#separator = ',';
    }
    const isArray = this.#isArray(name);
    this.#text += `${this.#separator}${JSON.stringify(name)}:${isArray ? '["' : '"'}`;
    this.#separator = ',';
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    this.#printer = { name, decoder, end: isArray ? '"]' : '"' };
    this.#print(this.#value.bytes);
  }

  /** Without bytes: ends the value. */
  #print(bytes?: Uint8Array): void {
    const { name, decoder } = this.#printer ?? {};
    try {
      const text = decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '';
      this.#text += JSON.stringify(text).slice(1, -1);
    } catch {
      throw formError(this.#options.kind, [...this.#faults, this.#encodingFault(name)]);
    }
  }

  #encodingFault(name: string | undefined): Fault {
    const subject = name === undefined ? 'the name of a field' : quoted(name);
    const detail = `${subject} must be text in UTF-8, ${this.#options.encoding}`;
    return name === undefined ? { detail } : { parameter: name, detail };
  }

  #isArray(name: string): boolean {
    return this.#options.kind.rules.some(
      ({ name: ruled, rule }) => ruled === name && rule.type === 'strings',
    );
  }

  #memberText(name: string, values: readonly string[]): string {
    const isString = values.length === 1 && !this.#isArray(name);
    return `${JSON.stringify(name)}:${JSON.stringify(isString ? values[0] : values)}`;
  }
}

interface ValuePrinter {
  readonly name: string;
  readonly decoder: InstanceType<typeof TextDecoder>;
  /** What comes after the value. */
  readonly end: string;
}

/** One field may have several names, as people write them. */
function namesIn(to: string): string[] {
  const names = to.split(',').map((name) => name.trim());
  return names.every((name) => name !== '') ? names : [to];
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

/** Undefined if the bytes are not UTF-8. */
function textOf({ bytes }: GrowingBuffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
