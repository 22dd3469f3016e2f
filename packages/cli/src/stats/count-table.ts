/** A table of counts with small bars. */
import stringWidth from 'string-width';

import { safeLine } from '../safe-text.ts';
import { cut } from '../visit/terminal-text.ts';

const BAR_WIDTH = 20;
const LONGEST_NAME = 40;
const PERCENT_WIDTH = 4;
const NO_NAME = '(without a name)';
/** Eighths of a character. */
const BLOCKS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The longest bar stands for the largest count, and percents are of `total`. */
export function countTable(
  counts: readonly (readonly [name: string, count: number])[],
  total: number,
  width: number,
): string {
  const most = counts.reduce((largest, [, count]) => Math.max(largest, count), 1);
  const amount = most.toLocaleString('en').length;
  const rest = width - amount - PERCENT_WIDTH - BAR_WIDTH - 8;
  const longest = Math.max(10, Math.min(LONGEST_NAME, rest));
  const rows = counts.map(([name, count]) => ({
    name: cut(name === '' ? NO_NAME : safeLine(name), longest),
    count,
  }));
  const column = rows.reduce((widest, { name }) => Math.max(widest, stringWidth(name)), 0);
  const lines = rows.map(({ name, count }) => {
    const padded = name + ' '.repeat(column - stringWidth(name));
    const percent = `${Math.round((count / total) * 100)}%`.padStart(PERCENT_WIDTH);
    const number = count.toLocaleString('en').padStart(amount);
    return `  ${padded}  ${number}  ${percent}  ${bar(count / most)}\n`;
  });
  return lines.length === 0 ? '  nothing\n' : lines.join('');
}

function bar(share: number): string {
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (BLOCKS[eighths % 8] ?? '');
}
