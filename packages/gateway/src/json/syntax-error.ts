/** The error for a text that is not JSON: what was found where, what was expected there, and a hint. */
import { GatewayError } from '@open-presence/protocol';

import { sequenceLength, decodeWhole } from './utf8.ts';

/** What the grammar of JSON allows at a position. */
export type Expected =
  | 'text'
  | 'value'
  | 'value or ]'
  | 'name'
  | 'name or }'
  | 'colon'
  | 'comma or }'
  | 'comma or ]'
  | 'end'
  | 'string'
  | 'escape'
  | 'hex digit'
  | 'digit'
  | 'no digit'
  | 'true'
  | 'false'
  | 'null';

const WORDS: Record<Expected, string> = {
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
  'hex digit': 'a hexadecimal digit, of which `\\u` takes four',
  digit: 'a digit',
  'no digit': 'no digit after a leading zero',
  true: 'the rest of `true`',
  false: 'the rest of `false`',
  null: 'the rest of `null`',
};

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
  readonly example?: unknown;
}

export function syntaxError(fault: SyntaxFault): GatewayError {
  const { position, expected, found } = fault;
  const character = found === undefined ? undefined : firstCharacter(found);
  const empty = character === undefined && expected === 'text';
  const description = character === undefined ? 'the end of the body' : display(character);
  const wording =
    character === undefined && expected === 'string' ? 'a closing `"`' : WORDS[expected];
  const sentence = empty
    ? `the body is empty, expected ${wording}`
    : `at ${formatPosition(position)} found ${description}, expected ${wording}`;
  return malformed(fault, sentence, hintFor(fault, character));
}

/** The error for a text that is not UTF-8. */
export function encodingError(position: Position, byte: number, example?: unknown): GatewayError {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  return malformed(
    { position, example },
    `at ${formatPosition(position)} found the byte 0x${hex}, which begins no valid UTF-8 sequence, expected UTF-8`,
    'Encode the text as UTF-8 and send it whole.',
  );
}

function malformed(
  { position, example }: Pick<SyntaxFault, 'position' | 'example'>,
  sentence: string,
  hint: string,
): GatewayError {
  const message = `Cannot read the body as JSON: ${sentence}.${hint === '' ? '' : ` ${hint}`}`;
  return new GatewayError('malformed-json', message, {
    position,
    ...(example === undefined ? {} : { example }),
  });
}

function formatPosition({ offset, line, column }: Position): string {
  return `byte ${offset} (line ${line}, column ${column})`;
}

function firstCharacter(bytes: Uint8Array): string {
  return decodeWhole(bytes.subarray(0, sequenceLength(bytes[0] ?? 0)));
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

function hintFor({ expected, outermost }: SyntaxFault, character: string | undefined): string {
  if (character === undefined) {
    if (expected === 'text') return 'Send a JSON object as the body of the request.';
    return 'Is the body cut off, or a bracket or quote not closed?';
  }
  switch (expected) {
    case 'string':
      return (
        CONTROL_CORRECTIONS[character] ??
        'Write a control character in a string as `\\u` and four digits.'
      );
    case 'escape':
      return 'Write a backslash itself as `\\\\`.';
    case 'end':
      return character === '{' ? 'Send one object per request.' : '';
    case 'name':
    case 'value':
    case 'digit':
    case 'text':
    case 'value or ]':
    case 'name or }':
      return hintAtStart(expected, character, outermost);
    case 'comma or }':
    case 'comma or ]':
      if (!/["\p{L}\p{N}]/u.test(character)) return CORRECTIONS[character] ?? '';
      return 'Is a comma missing before it, or a `"` not escaped as `\\"`?';
    default:
      return outermost ? NO_FORM : '';
  }
}

const NO_FORM = 'Plain text and form fields are not accepted: send a JSON object.';

/** For an unexpected character where a value or a name should start. */
function hintAtStart(expected: Expected, character: string, outermost: boolean): string {
  if (character === ',') return 'Is there an extra comma?';
  if ((expected === 'name' && character === '}') || (expected === 'value' && character === ']')) {
    return 'Leave out the comma before it.';
  }
  const correction = CORRECTIONS[character];
  if (correction !== undefined) return correction;
  return outermost && expected === 'text' ? NO_FORM : '';
}
