/** What documents tell somebody to run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs');
const PROGRAM =
  /^(?:[A-Z]+=\S+ )*(?:curl|docker|nats|npm|npx|presence|restic|rsync|sudo|systemctl) /;

/** Each line of code, a command or not, and each command within a sentence that is more than a name. */
export function commandsIn(document: string): readonly string[] {
  const text = readFileSync(join(DOCS, document), 'utf8');
  const lines = text.replaceAll(/ \\\n\s+/g, ' ').split('\n');
  const isCode = (line: string): boolean => /^ {4,}/.test(line);
  const prose = lines.filter((line) => !isCode(line)).join(' ');
  const spans = Array.from(prose.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
  const isWhole = (code: string): boolean => / (?:-|[A-Z]|\/|show\b|close\b|erase\b)/.test(code);
  return [
    ...lines.filter(isCode).map((line) => line.trim()),
    ...spans.filter((code) => isWhole(code) && PROGRAM.test(code)),
  ];
}

/** Without what is in brackets, and with it. */
export function variantsOf(command: string): readonly string[] {
  if (!command.includes('[')) return [command];
  const without = command.replaceAll(/ \[[^\]]*\]/g, '');
  return [without, command.replaceAll(/[[\]]/g, '')];
}
