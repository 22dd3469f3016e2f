/** Shows the log on a terminal: each line of JSON in plain words. */
import type { TextOutput } from './process-context.ts';

export const CLEAR_LINE = '\r\u001B[K';

/** Members that a reader of the terminal knows or does not need. */
const OMITTED: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** A destination for pino. */
export function terminalLog(terminal: TextOutput): TextOutput {
  return { write: (line) => terminal.write(`${CLEAR_LINE}${formatLogLine(line)}\n`) };
}

/** Describes dropped lines, in the form of the other lines. */
export function describeDropped(isTerminal: boolean): (lines: number) => string {
  return (lines) => {
    const msg = `log: ${lines} lines were dropped, since they could not be written`;
    if (isTerminal) return `${CLEAR_LINE}${msg}\n`;
    return `${JSON.stringify({ level: 40, time: Date.now(), dropped: lines, msg })}\n`;
  };
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
