/** The log for a terminal: each line of JSON in plain words. */
import type { Writable } from 'node:stream';

export const CLEAR_LINE = '\r\u001B[K';

/** Members that a reader of the terminal knows or does not need. */
const OMITTED: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** A destination for pino. */
export function terminalLog(stdout: Writable): { write(line: string): void } {
  return { write: (line) => void stdout.write(`${CLEAR_LINE}${formatLogLine(line)}\n`) };
}

function formatLogLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== 'object' || parsed === null) return line;
  const members = new Map<string, unknown>(Object.entries(parsed));
  const details = [...members]
    .filter(([name]) => !OMITTED.has(name))
    .map(([name, value]) => `${name}: ${formatDetail(value)}`);
  return [String(members.get('msg')), ...details].join('\n  ');
}

/** The stack of an error, which pino logs as an object. */
function formatDetail(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'stack' in value) return String(value.stack);
  return JSON.stringify(value);
}
