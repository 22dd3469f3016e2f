/** Visitors' words on a terminal: whatever they contain, they are shown and never obeyed. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

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

/** Lines of at most `width` columns, each behind `indent`. Words that are longer are divided. */
export function wrapped(text: string, width: number, indent: string): string {
  const columns = Math.max(10, width - stringWidth(indent));
  const lines = wrapAnsi(safeText(text).replaceAll('\t', '    '), columns, {
    hard: true,
    trim: false,
  });
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : indent + line.trimEnd()))
    .join('\n');
}

/** A table whose columns are as wide as their widest cell, except for the last, which is cut. */
export function table(rows: readonly (readonly string[])[], width: number): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === row.length - 1
        ? cell
        : cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)),
    );
    return cut(cells.join('  '), width);
  });
  return `${lines.join('\n')}\n`;
}

/** At most `width` columns, with `…` where something was left out. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let shown = '';
  let columns = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    columns += stringWidth(segment);
    if (columns > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
