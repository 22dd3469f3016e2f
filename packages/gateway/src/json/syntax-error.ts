/** The error for a text that is not JSON: what was found where, what was expected there, and a hint. */
import { GatewayError } from '@open-presence/protocol';

import { sequenceLength, decodeWhole } from './utf8.ts';

/** How an error calls what the grammar of JSON allows at a position. */
const WORDS = {
  text: 'a JSON object, which begins with `{`',
  value: 'a value',
  'value or ]': 'a value or `]`',
  name: 'a member name in double quotes',
  'name or }': 'a member name in double quotes or `}`',
  colon: '`:` after the member name',
  'comma or }': '`,` or `}`',
  'comma or ]': '`,` or `]`',
  end: 'nothing more, since the JSON text is complete',
  string: 'the rest of a string, in which control characters are escaped',
  escape: 'one of `"` `\\` `/` `b` `f` `n` `r` `t` `u` after the backslash',
  'hex digit': 'a hexadecimal digit (`\\u` takes four)',
  digit: 'a digit',
  'no digit': 'no digit after a leading zero',
  true: 'the rest of `true`',
  false: 'the rest of `false`',
  null: 'the rest of `null`',
};

export type Expected = keyof typeof WORDS;

/** Offset in bytes from 0, line and column (in bytes) from 1. */
export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export interface SyntaxFault {
  readonly position: Position;
  readonly expected: Expected;
  /** The bytes from the unexpected one on; undefined at the end of the text. */
  readonly found: Uint8Array | undefined;
  /** Whether it is outside of any object or array. */
  readonly outermost: boolean;
  /** A body that works. */
  readonly example: unknown;
}

export function syntaxError(fault: SyntaxFault): GatewayError {
  const { position, expected, found } = fault;
  const where = `at ${formatPosition(position)} found`;
  if (found !== undefined) {
    const character = decodeWhole(found.subarray(0, sequenceLength(found[0] ?? 0)));
    const sentence = `${where} ${display(character)}, expected ${WORDS[expected]}.`;
    return malformed(fault, `${sentence} ${hintFor(fault, character)}`.trimEnd());
  }
  if (expected === 'text') {
    const hint = 'Send a JSON object as the body of the request.';
    return malformed(fault, `the body is empty, expected ${WORDS.text}. ${hint}`);
  }
  const wording = expected === 'string' ? 'a closing `"`' : WORDS[expected];
  const hint = 'Is the body cut off, or a bracket or quote not closed?';
  return malformed(fault, `${where} the end of the body, expected ${wording}. ${hint}`);
}

/** The error for a text that is not UTF-8. */
export function encodingError(position: Position, byte: number, example: unknown): GatewayError {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  return malformed(
    { position, example },
    `at ${formatPosition(position)} found the byte 0x${hex}, which begins no valid UTF-8 sequence, expected UTF-8. Encode the text as UTF-8 and send it whole.`,
  );
}

function malformed(
  { position, example }: Pick<SyntaxFault, 'position' | 'example'>,
  sentences: string,
): GatewayError {
  return new GatewayError('malformed-json', `Cannot read the body as JSON: ${sentences}`, {
    position,
    ...(example === undefined ? {} : { example }),
  });
}

function formatPosition({ offset, line, column }: Position): string {
  return `byte ${offset} (line ${line}, column ${column})`;
}

/** Invisible characters, and those that would break the sentence, are named by their code point. */
function display(character: string): string {
  if (/^[^\p{C}\p{Z}\p{M}`]$/u.test(character)) return `\`${character}\``;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = NAMES[character];
  return `U+${code}${name === undefined ? '' : ` (${name})`}`;
}

const NAMES: Readonly<Record<string, string>> = {
  '\0': 'NUL',
  '\t': 'a tab',
  '\n': 'a line feed',
  '\r': 'a carriage return',
  '\uFEFF': 'a byte order mark',
};

const CORRECTIONS: Readonly<Record<string, string>> = {
  "'": 'JSON strings are quoted with `"`, not with `\'`.',
  '“': 'JSON strings are quoted with the plain `"`.',
  '”': 'JSON strings are quoted with the plain `"`.',
  N: 'JSON has no `NaN` or `None`: write `null`.',
  I: 'JSON has no `Infinity`: write `null` or a string.',
  u: 'JSON has no `undefined`: write `null` or leave the member out.',
  T: 'Write `true` in lowercase.',
  F: 'Write `false` in lowercase.',
  '/': 'JSON has no comments.',
  '#': 'JSON has no comments.',
  '+': 'Numbers have no leading `+`.',
  '.': 'Numbers begin with a digit, such as `0.5`.',
};

const CONTROL_CORRECTIONS: Readonly<Record<string, string>> = {
  '\n': 'Write a line break in a string as `\\n`.',
  '\r': 'Write a line break in a string as `\\n` or `\\r\\n`.',
  '\t': 'Write a tab in a string as `\\t`.',
};

function hintFor({ expected, outermost }: SyntaxFault, character: string): string {
  if (expected === 'escape') return 'Write a backslash itself as `\\\\`.';
  if (expected === 'end') return character === '{' ? 'Send one object per request.' : '';
  if (expected === 'string') {
    return (
      CONTROL_CORRECTIONS[character] ??
      'Write a control character in a string as `\\u` and four digits.'
    );
  }
  if (expected.startsWith('comma')) {
    if (!/["\p{L}\p{N}]/u.test(character)) return CORRECTIONS[character] ?? '';
    return 'Is a comma missing before it, or a `"` not escaped as `\\"`?';
  }
  if (/^(?:text|value|name|digit)/.test(expected)) {
    if (character === ',') return 'Is there an extra comma?';
    if (expected + character === 'name}' || expected + character === 'value]') {
      return 'Leave out the comma before it.';
    }
    const correction = CORRECTIONS[character];
    if (correction !== undefined || expected !== 'text') return correction ?? '';
  }
  return outermost
    ? 'Send a JSON object; form fields need "Content-Type: application/x-www-form-urlencoded".'
    : '';
}
