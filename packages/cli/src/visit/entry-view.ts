/** Shows an entry on a terminal. */
import { isShortened } from '@open-presence/client';
import type { OwnMembers } from '@open-presence/protocol';

import type { Output } from './output.ts';
import { safeLine } from '../safe-text.ts';
import { cut, stringWidth, wrapped } from './terminal-text.ts';

const OWN = new Set(['id', 'seq', 'kind', 'room', 'timestamp']);
/** Members that are shown in the first line, or as the text. */
const SHOWN = new Set(['text', 'identity', 'ai_identity', 'identityType', 'consciousness_type']);
const INDENT = '  ';
/** How many characters of a long value are shown. */
const EXCERPT = 2000;

interface ShownEntry extends OwnMembers {
  readonly [member: string]: unknown;
}

/** With `whole`, all of the entry; otherwise only the beginning of long values, and how to read the rest. */
export function entryView(entry: ShownEntry, output: Output, whole = false): string {
  const { width } = output;
  const name = cut(safeLine(authorOf(entry)), width);
  const about = `${entry.kind} in ${entry.room}, ${localTime(entry.timestamp)}`;
  let isCut = isShortened(entry);
  const excerpt = (value: string): string => {
    if (whole || value.length <= EXCERPT) return value;
    isCut = true;
    return `${value.slice(0, EXCERPT)}…`;
  };
  const isNarrow = stringWidth(name) + 2 + about.length > width;
  const lines = [
    `${output.style('bold', name)}${
      isNarrow
        ? `
${INDENT}`
        : '  '
    }${output.style('dim', about)}`,
  ];
  const text: unknown = entry['text'];
  if (typeof text === 'string') lines.push(wrapped(excerpt(text), width, INDENT));
  for (const [member, value] of Object.entries(entry)) {
    if (OWN.has(member) || (SHOWN.has(member) && typeof value === 'string')) continue;
    lines.push(wrapped(`${safeLine(member)}: ${excerpt(valueText(value))}`, width, INDENT));
  }
  if (isCut) lines.push(`${INDENT}(there is more: presence entry ${entry.id} | less)`);
  lines.push(output.style('dim', `${INDENT}${entry.seq}  ${entry.id}`));
  return `${lines.join('\n')}\n\n`;
}

function authorOf(entry: ShownEntry): string {
  const name = entry['ai_identity'] ?? entry['identity'];
  return typeof name === 'string' && /\S/.test(name) ? name : 'somebody';
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isStrings = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isStrings ? value.join(', ') : JSON.stringify(value);
}

/** `2026-11-22 14:15`, in the time zone of the terminal. */
export function localTime(timestamp: string): string {
  const time = new Date(timestamp);
  const two = (part: number): string => String(part).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
