/** The scanner's states, and the tables in which its loops look up bytes. */
import type { Expected } from './syntax-error.ts';

// What is expected next. The states from MINUS to POWER are places within a number.
export const TEXT = 0;
export const VALUE = 1;
export const VALUE_OR_END = 2;
export const NAME = 3;
export const NAME_OR_END = 4;
export const COLON = 5;
export const AFTER = 6;
export const DONE = 7;
export const STRING = 8;
export const ESCAPE = 9;
export const HEX = 10;
export const LITERAL = 11;
export const MINUS = 12;
export const ZERO = 13;
export const INTEGER = 14;
const POINT = 15;
export const FRACTION = 16;
const EXPONENT = 17;
const SIGN = 18;
export const POWER = 19;
// How a step within a number can end the number.
export const NUMBER_ENDS = 20;
const NO_DIGIT = 21;
const UNEXPECTED = 22;

/** What an error says was expected in each state. Undefined if that depends on more than the state. */
export const EXPECTED: readonly (Expected | undefined)[] = [
  ...(['text', 'value', 'value or ]', 'name', 'name or }', 'colon', undefined, 'end'] as const),
  ...(['string', 'escape', 'hex digit', undefined] as const),
  ...(['digit', 'no digit', 'digit', 'digit', 'digit', 'digit', 'digit', 'digit'] as const),
];

/** 1 for the bytes that a string may have unescaped. */
export const PLAIN: Uint8Array = new Uint8Array(256).fill(1, 0x20);
PLAIN[0x22] = 0;
PLAIN[0x5c] = 0;

/** The code unit that a byte means after a backslash, 0 for none. */
export const ESCAPES: Uint8Array = new Uint8Array(256);
for (const pair of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  ESCAPES[pair.charCodeAt(0)] = pair.charCodeAt(1);
}

/** The value of a hexadecimal digit, 16 for other bytes. */
export const HEX_VALUE: Uint8Array = new Uint8Array(256).fill(16);
for (const digit of '0123456789abcdefABCDEF') {
  HEX_VALUE[digit.charCodeAt(0)] = Number.parseInt(digit, 16);
}

export const LITERALS: Readonly<Record<number, 'true' | 'false' | 'null'>> = {
  0x74: 'true',
  0x66: 'false',
  0x6e: 'null',
};

// Within a number: 0, 1-9, `.`, `e` or `E`, `+`, `-`, anything else.
const CLASSES = 7;
const CLASS = new Uint8Array(256).fill(6);
for (const [index, characters] of ['0', '123456789', '.', 'eE', '+', '-'].entries()) {
  for (const character of characters) CLASS[character.charCodeAt(0)] = index;
}

const NEXT = Uint8Array.from(
  [
    [ZERO, INTEGER, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED], // MINUS
    [NO_DIGIT, NO_DIGIT, POINT, EXPONENT, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS], // ZERO
    [INTEGER, INTEGER, POINT, EXPONENT, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS], // INTEGER
    [FRACTION, FRACTION, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED], // POINT
    [FRACTION, FRACTION, NUMBER_ENDS, EXPONENT, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS], // FRACTION
    [POWER, POWER, UNEXPECTED, UNEXPECTED, SIGN, SIGN, UNEXPECTED], // EXPONENT
    [POWER, POWER, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED, UNEXPECTED], // SIGN
    [POWER, POWER, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS, NUMBER_ENDS], // POWER
  ].flat(),
);

/** The state within a number after this byte: NUMBER_ENDS at the first byte after the number, more for an error. */
export function stepNumber(state: number, byte: number): number {
  return NEXT[(state - MINUS) * CLASSES + (CLASS[byte] ?? 0)] ?? 0;
}
