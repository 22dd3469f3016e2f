/**
 * `npm run invariants`: prints what must always hold, with the file that upholds it and the tests that
 * would fail. An invariant stands in the opening comment of that file:
 *
 *     Invariant: One or two sentences.
 *     Test: `path/from/the/root.test.ts` “name of a test” “name of another”
 *
 * Further lines of either are indented. In a name, `…` stands for what the test fills in.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['*.config.ts', '{conformance,packages,scripts,test}/**/*.ts'];
const GENERATED = ['**/node_modules/**', '**/dist/**'];

export interface Invariant {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly { readonly path: string; readonly names: readonly string[] }[];
}

/** All invariants, in the order of their files. */
export function readInvariants(): Invariant[] {
  const files = globSync(SOURCES, { cwd: ROOT, exclude: GENERATED }).toSorted();
  return files.flatMap((file) => invariantsIn(file, readFileSync(join(ROOT, file), 'utf8')));
}

function invariantsIn(file: string, source: string): Invariant[] {
  const [comment = ''] = /^\/\*\*[^]*?\*\//.exec(source) ?? [];
  const lines = comment.replaceAll(/\n \* {3}/g, ' ').split('\n');
  const starts = lines.flatMap((line, at) => (line.startsWith(' * Invariant: ') ? [at] : []));
  return starts.map((start, index) => {
    const tests = lines.slice(start, starts[index + 1]).flatMap((line) => {
      const [, path] = /^ \* Test: `([^`]+)`/.exec(line) ?? [];
      return path === undefined ? [] : [{ path, names: namesIn(line) }];
    });
    return { file, text: lines[start]?.slice(' * Invariant: '.length) ?? '', tests };
  });
}

function namesIn(line: string): string[] {
  return Array.from(line.matchAll(/“([^”]+)”/g), ([, name = '']) => name);
}

if (import.meta.main) {
  for (const { file, text, tests } of readInvariants()) {
    console.log(`${file}\n  ${text}`);
    for (const { path, names } of tests) console.log(`    ${path}: ${names.join('; ')}`);
  }
}
