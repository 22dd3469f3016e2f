import fc from 'fast-check';

/**
 * Any character, one code point: what fast-check calls "binary". Its own starts with a table of all
 * of Unicode, which takes more than a second.
 */
export function anyCharacter(): fc.Arbitrary<string> {
  return fc
    .oneof(
      { weight: 2, arbitrary: fc.nat(0xd7ff) },
      { weight: 3, arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }) },
    )
    .map((code) => String.fromCodePoint(code), codeOf);
}

/** Lets fast-check mix in strings that are often handled wrong, such as "__proto__". */
function codeOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== character)
    throw new TypeError('Not one character');
  return code;
}
