/** What documents and comments name exists: files, headings, and the tests of invariants. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

import { readInvariants } from '../../scripts/invariants.ts';

const ROOT = join(import.meta.dirname, '../..');
const GENERATED = ['node_modules', 'dist', '.git', 'presence-data'];
/** Names of files of ours, as they stand in backticks. Data folders have files of other kinds. */
const FILE_NAME = /^(?:[\w.@-]+\/)*[\w.@-]+\.(?:ts|tsx|md|sh|yaml)$/;
const IN_TOP_FOLDER =
  /^(?:packages|test|conformance|docs|scripts|deploy|examples|bench)\/[\w.@/-]*$/;
/** Shown as examples, or belonging to others. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'NNNN-what-was-decided.md',
  'dist/client/.vite/license.md',
  'packages/cli/node_modules/x',
  // Of a data folder.
  'privacy.md',
  'terms.md',
  'path/from/the/root.test.ts',
]);

const paths = new Set(globSync('**', { cwd: ROOT, exclude: (name) => GENERATED.includes(name) }));
const files = [...paths].filter((path) => /\.(?:md|tsx?)$/.test(path)).toSorted();
/** Every end of every path, so that `log/log.ts` is found wherever its folder is. */
const endings = new Set(
  [...paths].flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(index).join('/'));
  }),
);

/** The file as text. Of a source, its comments only, with empty lines in place of the rest. */
function proseOf(file: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  if (file.endsWith('.md')) return text;
  return text.replaceAll(/^(?!\s*(?:\/\*\*|\*|\/\/)).*$/gm, '');
}

test('every path that a document or a comment names exists', () => {
  const wrong = files.flatMap((file) =>
    Array.from(proseOf(file).matchAll(/`([^`\s]+)`/g), ([, name = '']) => name)
      .filter((name) => FILE_NAME.test(name) || IN_TOP_FOLDER.test(name))
      .filter((name) => !NOT_OURS.has(name) && !endings.has(name.replace(/\/$/, '')))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

test('every link of a document leads to a file and a heading', () => {
  const documents = files.filter((file) => file.endsWith('.md'));
  const wrong = documents.flatMap((file) =>
    Array.from(proseOf(file).matchAll(/\]\(([^)\s:]+)\)/g), ([, link = '']) => link)
      .filter((link) => !link.startsWith('/') && !leads(file, link))
      .map((link) => `${file}: ${link}`),
  );
  assert.deepEqual(wrong, []);
});

function leads(file: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? file : normalize(join(dirname(file), path)).replace(/\/$/, '');
  if (!paths.has(target)) return false;
  return heading === undefined || headingsOf(target).has(heading);
}

/** As GitHub names them. */
function headingsOf(file: string): Set<string> {
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.+)$/gm);
  return new Set(
    Array.from(headings, ([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every invariant names tests that exist', () => {
  const invariants = readInvariants();
  assert.ok(invariants.length > 0);
  const wrong = invariants.flatMap(({ file, text, tests }) => {
    if (tests.length === 0) return [`${file}: no test of “${text}”`];
    return tests.flatMap(({ path, names }) => {
      if (!paths.has(path)) return [`${file}: ${path}`];
      if (names.length === 0) return [`${file}: no name of a test in ${path}`];
      const source = readFileSync(join(ROOT, path), 'utf8');
      return names.filter((name) => !hasTest(source, name)).map((name) => `${path}: “${name}”`);
    });
  });
  assert.deepEqual(wrong, []);
});

/** Whether a string of the source is this name, in which `…` stands for anything. */
function hasTest(source: string, name: string): boolean {
  const pattern = name.split('…').map((part) => RegExp.escape(part));
  return new RegExp(`(['"\`])${pattern.join('.+?')}\\1`).test(source);
}
