/** The content of a JSON string in chunks: each character as it is, or spelled as `JSON.stringify` does. */
import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/** `chunks`: the string with its quotes. Without quotes in the result. Throws `malformed-json`. */
export function stringText(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  return contentOf(chunks, (text) => JSON.stringify(text).slice(1, -1));
}

/** As `stringText`, with each character as it is. */
export function decodedString(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  return contentOf(chunks, (text) => text);
}

async function* contentOf(
  chunks: AsyncIterable<Uint8Array>,
  spell: (text: string) => string,
): AsyncGenerator<Buffer, void, undefined> {
  const speller = new Speller(spell);
  const scanner = new JsonScanner(speller);
  for await (const chunk of chunks) {
    scanner.feed(chunk);
    if (speller.spelled.length > 0) yield Buffer.concat(speller.spelled.splice(0));
  }
  scanner.end();
  yield Buffer.concat(speller.spelled);
}

export async function isObjectText(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
  const root = new RootType();
  const scanner = new JsonScanner(root);
  const yieldTurn = yieldPeriodically();
  try {
    for await (const chunk of chunks) {
      scanner.feed(chunk);
      await yieldTurn();
    }
    scanner.end();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'malformed-json') return false;
    throw error;
  }
  return root.type === 'object';
}

class RootType extends JsonHandler {
  type: ValueType | undefined;

  override startValue(type: ValueType): boolean {
    this.type = type;
    return false;
  }
}

class Speller extends JsonHandler {
  readonly spelled: Uint8Array[] = [];
  /** Spells a character that was escaped. */
  readonly #spell: (text: string) => string;

  constructor(spell: (text: string) => string) {
    super();
    this.#spell = spell;
  }

  override startValue(type: ValueType): boolean {
    return type === 'string';
  }

  override text(from: number, to: number): void {
    this.spelled.push(this.piece.subarray(from, to));
  }

  override escaped(code: number): void {
    this.spelled.push(Buffer.from(this.#spell(String.fromCodePoint(code))));
  }
}
