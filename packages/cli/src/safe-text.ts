import { StringDecoder } from 'node:string_decoder';

/**
 * Makes visitors' words safe for a terminal: it shows whatever they contain, and never obeys it. Uses no
 * library, since each start would wait for it.
 */
const CONTROL_PICTURES = 0x2400;
const DELETE_PICTURE = '\u2421';
/** Controls, and characters that change the direction of the text around them. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Makes controls visible, except line feed and tab: `␛` for an escape, `<U+202E>` for one without a picture. */
export function safeText(text: string): string {
  return text.toWellFormed().replaceAll(UNSAFE, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
    if (code === 0x7f) return DELETE_PICTURE;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The safe text on one line. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/g, ' ').trim();
}

/** The controls of this program: for colours and weights, and to overwrite a line of progress. */
// oxlint-disable-next-line no-control-regex -- It looks for controls.
const OWN = /(\r\u001B\[K|\u001B\[[\d;]*m)/;

/**
 * Makes everything safe that is written to the terminal from now on: the terminal obeys only the controls
 * that this program itself uses.
 */
export function guardTerminal(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder('utf8');
  stream.write = (data: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const text = guardedText(typeof data === 'string' ? data : decoder.write(data));
    return Boolean(Reflect.apply(write, undefined, [text, ...rest]));
  };
}

export function guardedText(text: string): string {
  return text
    .split(OWN)
    .map((part, at) => (at % 2 === 1 ? part : safeText(part)))
    .join('');
}
