/**
 * What visitors say in a body: every string value in it, at any depth, member names left out. The
 * body is JSON that was judged before; it comes in pieces, and so does what is told of it.
 */
import { Nesting } from './nesting.ts';

export interface StringSink {
  /** More of the value at hand. */
  text(piece: string): void;
  /** The value is complete. */
  end(): void;
}

/** The letters behind a backslash, save `u`, and what they stand for. */
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export class StringValueReader {
  readonly #hearing: StringSink;
  readonly #nesting = new Nesting();
  /** Whether a string that begins here would be a member's name. */
  #names = true;
  #within: 'none' | 'name' | 'value' = 'none';
  /** What follows the last backslash, if the piece before ended there. */
  #escape = '';

  /** Reads the members of an object: a body may begin with its brace, a comma or a name. */
  constructor(hearing: StringSink) {
    this.#hearing = hearing;
    this.#nesting.open(true);
  }

  feed(json: string): void {
    for (let at = 0; at < json.length;) {
      at = this.#within === 'none' ? this.#between(json, at) : this.#inString(json, at);
    }
  }

  #between(json: string, from: number): number {
    for (let at = from; at < json.length; at += 1) {
      switch (json.charCodeAt(at)) {
        case 0x22:
          this.#within = this.#names ? 'name' : 'value';
          return at + 1;
        case 0x3a:
          this.#names = false;
          break;
        case 0x2c:
          this.#names = this.#nesting.inObject();
          break;
        case 0x7b:
          this.#nesting.open(true);
          this.#names = true;
          break;
        case 0x5b:
          this.#nesting.open(false);
          this.#names = false;
          break;
        case 0x5d:
        case 0x7d:
          this.#nesting.close();
          break;
        default:
      }
    }
    return json.length;
  }

  /** Up to the string's end, or the end of an escape in it. */
  #inString(json: string, from: number): number {
    if (this.#escape !== '') return this.#inEscape(json, from);
    for (let at = from; at < json.length; at += 1) {
      const code = json.charCodeAt(at);
      if (code !== 0x22 && code !== 0x5c) continue;
      this.#say(json, from, at);
      if (code === 0x5c) this.#escape = '\\';
      else this.#ends();
      return at + 1;
    }
    this.#say(json, from, json.length);
    return json.length;
  }

  #inEscape(json: string, at: number): number {
    this.#escape += json.charAt(at);
    const { length } = this.#escape;
    if (length < 6 && this.#escape.charAt(1) === 'u') return at + 1;
    const letter = this.#escape.slice(1);
    this.#escape = '';
    const said =
      length === 6
        ? String.fromCharCode(Number.parseInt(letter.slice(1), 16))
        : (ESCAPES[letter] ?? letter);
    if (this.#within === 'value') this.#hearing.text(said);
    return at + 1;
  }

  #say(json: string, from: number, to: number): void {
    if (this.#within === 'value' && to > from) this.#hearing.text(json.slice(from, to));
  }

  #ends(): void {
    if (this.#within === 'value') this.#hearing.end();
    this.#within = 'none';
  }
}

/** The values of a body that is at hand, each whole. */
export function stringValuesIn(body: string): string[] {
  const values: string[] = [];
  let value = '';
  const reader = new StringValueReader({
    text: (piece) => void (value += piece),
    end: () => {
      values.push(value);
      value = '';
    },
  });
  reader.feed(body);
  return values;
}
