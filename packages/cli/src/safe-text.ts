/**
 * Visitors' words on a terminal: whatever they contain, they are shown and never obeyed. Needs no library: a
 * start would wait for it.
 */
const CONTROL_PICTURES = 0x2400;
const DELETE_PICTURE = '\u2421';
/** Controls but for line feed and tab, and what changes the direction of the text around it. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Makes controls visible: `␛` for an escape, `<U+202E>` for what has no picture. */
export function safeText(text: string): string {
  return text.toWellFormed().replaceAll(UNSAFE, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
    if (code === 0x7f) return DELETE_PICTURE;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/g, ' ').trim();
}
