/** Keeps the direction of a visitor's text from affecting the words around it. */

/** Characters that set the direction of the text after them, or end an isolate. */
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** Removes direction controls: even an element that isolates its text cannot confine them. */
export function withoutDirectionControls(text: string): string {
  return text.replaceAll(CONTROLS, '');
}

/** Prepares a text for use within plain text, where no element isolates it: characters do, if it may run right to left. */
export function isolated(text: string): string {
  const plain = withoutDirectionControls(text);
  return RIGHT_TO_LEFT.test(plain) ? FIRST_STRONG_ISOLATE + plain + POP_ISOLATE : plain;
}
