/** What a visitor is told whose body is not JSON: what was found, what was wanted there, a hint. */
import { GatewayError } from '@open-presence/protocol';

import { sequenceLength, textOf } from './utf8.ts';

/** What the grammar of JSON allows at a place. */
export type Wanted =
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

const WORDS: Record<Wanted, string> = {
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

export interface Misfit {
  readonly position: Position;
  readonly wanted: Wanted;
  /** The bytes that begin with the one that does not fit; undefined where the text ends. */
  readonly found: Uint8Array | undefined;
  /** Whether it stands outside of any object or array. */
  readonly outermost: boolean;
  /** A body that works. */
  readonly example?: unknown;
}

/** The text is not JSON. */
export function notJson(misfit: Misfit): GatewayError {
  const { position, wanted, found } = misfit;
  const character = found === undefined ? undefined : characterOf(found);
  const empty = character === undefined && wanted === 'text';
  const what = character === undefined ? 'the end of the body' : shown(character);
  const words = character === undefined && wanted === 'string' ? 'a closing `"`' : WORDS[wanted];
  const sentence = empty
    ? `the body is empty, wanted ${words}`
    : `at ${placeOf(position)} found ${what}, wanted ${words}`;
  return malformed(misfit, sentence, hintFor(misfit, character));
}

/** The text is not UTF-8. */
export function notUtf8(position: Position, byte: number, example?: unknown): GatewayError {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  return malformed(
    { position, example },
    `at ${placeOf(position)} found the byte 0x${hex}, which begins no valid UTF-8 sequence, wanted UTF-8`,
    'Encode the text as UTF-8 and send it whole.',
  );
}

function malformed(
  { position, example }: Pick<Misfit, 'position' | 'example'>,
  sentence: string,
  hint: string,
): GatewayError {
  const message = `Cannot read the body as JSON: ${sentence}.${hint === '' ? '' : ` ${hint}`}`;
  return new GatewayError('malformed-json', message, {
    position,
    ...(example === undefined ? {} : { example }),
  });
}

function placeOf({ offset, line, column }: Position): string {
  return `byte ${offset} (line ${line}, column ${column})`;
}

function characterOf(bytes: Uint8Array): string {
  return textOf(bytes.subarray(0, sequenceLength(bytes[0] ?? 0)));
}

/** Characters that cannot be seen, or would spoil the sentence, go by their number. */
function shown(character: string): string {
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

const INSTEAD: Readonly<Record<string, string>> = {
  "'": 'JSON quotes with `"`, never with `\'`.',
  '“': 'JSON quotes with the plain `"` alone.',
  '”': 'JSON quotes with the plain `"` alone.',
  N: 'JSON knows no `NaN` and no `None`: write `null`.',
  I: 'JSON knows no `Infinity`: write `null` or a string.',
  u: 'JSON knows no `undefined`: write `null` or leave the member out.',
  T: 'Write `true` in small letters.',
  F: 'Write `false` in small letters.',
  '/': 'JSON has no comments.',
  '#': 'JSON has no comments.',
  '+': 'Numbers have no leading `+`.',
  '.': 'Numbers begin with a digit, such as `0.5`.',
};

const CONTROLS: Readonly<Record<string, string>> = {
  '\n': 'Write a line break in a string as `\\n`.',
  '\r': 'Write a line break in a string as `\\n` or `\\r\\n`.',
  '\t': 'Write a tab in a string as `\\t`.',
};

function hintFor({ wanted, outermost }: Misfit, character: string | undefined): string {
  if (character === undefined) {
    if (wanted === 'text') return 'Send a JSON object as the body of the request.';
    return 'Is the body cut off, or a bracket or quote not closed?';
  }
  switch (wanted) {
    case 'string':
      return (
        CONTROLS[character] ?? 'Write a control character in a string as `\\u` and four digits.'
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
      return hintAtBeginning(wanted, character, outermost);
    case 'comma or }':
    case 'comma or ]':
      if (!/["\p{L}\p{N}]/u.test(character)) return INSTEAD[character] ?? '';
      return 'Is a comma missing before it, or a `"` not escaped as `\\"`?';
    default:
      return outermost ? NO_FORM : '';
  }
}

const NO_FORM = 'Plain text and form fields are not read: send a JSON object.';

/** Where a value or a name should begin. */
function hintAtBeginning(wanted: Wanted, character: string, outermost: boolean): string {
  if (character === ',') return 'Is there a comma too many?';
  if ((wanted === 'name' && character === '}') || (wanted === 'value' && character === ']')) {
    return 'Leave out the comma before it.';
  }
  const instead = INSTEAD[character];
  if (instead !== undefined) return instead;
  return outermost && wanted === 'text' ? NO_FORM : '';
}
