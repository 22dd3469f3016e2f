/** Fits visitors' words into the columns of a terminal. */
import { createRequire } from 'node:module';
import type StringWidth from 'string-width';
import type WrapAnsi from 'wrap-ansi';

import { safeText } from '../safe-text.ts';

interface Load {
  (name: 'string-width'): { readonly default: typeof StringWidth };
  (name: 'wrap-ansi'): { readonly default: typeof WrapAnsi };
}

/** At their first use: each takes 30 ms, and only a terminal needs them. */
const load: Load = createRequire(import.meta.url);

/** How many columns a text takes. */
export function stringWidth(text: string): number {
  return load('string-width').default(text);
}

/** Wraps a text into lines of at most `width` columns, each with `indent`. Divides longer words. */
export function wrapped(text: string, width: number, indent: string): string {
  const columns = Math.max(10, width - stringWidth(indent));
  const wrapAnsi = load('wrap-ansi').default;
  const lines = wrapAnsi(safeText(text).replaceAll('\t', '    '), columns, {
    hard: true,
    trim: false,
  });
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : indent + line.trimEnd()))
    .join('\n');
}

/** A table whose columns are as wide as their widest cells. Cuts each line to `width` columns. */
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

/** Cuts a text to at most `width` columns, with `…` at its end. */
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
