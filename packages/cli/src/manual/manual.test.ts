// The texts that are printed from the commands, in the programs that read them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { type DataFolder, dataFolder } from '../../../../test/gateway-process.ts';
import { createProgram } from '../program.ts';
import { type CommandRow, commandTable } from './command-table.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './completion.ts';
import { type Manual, manPages } from './man-page.ts';
import { commandReference } from './markdown.ts';
import { needs } from '../../../../test/needs.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');

// No command runs here.
const program = await createProgram({} as Parameters<typeof createProgram>[0], '1.2.3');
const commands = commandTable(program);
const manual: Manual = {
  program: 'presence',
  description: program.description(),
  version: '1.2.3',
  commands,
};

test('docs/command.md is what the commands say: node packages/cli/scripts/write-manual.ts', async () => {
  assert.equal(await readFile(join(ROOT, 'docs/command.md'), 'utf8'), commandReference(manual));
});

test('each command has a manual page with all its options', () => {
  const pages = manPages(manual);
  assert.equal(pages.size, commands.length + 1);
  for (const { name, options } of commands) {
    const page = pages.get(`presence-${name}.1`) ?? '';
    for (const { flags } of options)
      assert.ok(page.includes(flags.replaceAll('-', String.raw`\-`)));
    assert.doesNotMatch(page, /^\.(?!TH |SH |TP$|PP$|nf$|fi$)/m);
  }
});

suite('a shell completes', () => {
  let folder: DataFolder;
  before(async () => {
    folder = await dataFolder();
  });
  after(() => folder[Symbol.asyncDispose]());

  const shells: Readonly<
    Record<'bash' | 'fish', (file: string, words: readonly string[]) => string[]>
  > = {
    bash: (file, words) => {
      const setUp = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
      return ['-c', `source ${file}; ${setUp}; _presence; printf '%s\\n' "\${COMPREPLY[@]}"`];
    },
    fish: (file, words) => [
      '--no-config',
      '-c',
      `source ${file}; complete -C '${words.join(' ')}' | cut -f 1`,
    ],
  };
  const scripts: Readonly<Record<string, (rows: readonly CommandRow[]) => string>> = {
    bash: bashCompletion,
    fish: fishCompletion,
  };
  for (const shell of ['bash', 'fish'] as const) {
    const args = shells[shell];
    test(`commands, options and values: ${shell}`, needs(shell), async () => {
      const file = join(folder.path, shell);
      await writeFile(file, scripts[shell]?.(commands) ?? '');
      const complete = async (...words: readonly string[]): Promise<string[]> => {
        const { stdout } = await run(shell, args(file, ['presence', ...words]));
        return stdout.trim().split('\n').toSorted();
      };
      const all = ['read', 'read-only', 'reload', 'repair', 'reply', 'restore'];
      assert.deepEqual(await complete('re'), all);
      assert.deepEqual(await complete('read', '--or'), ['--order']);
      assert.deepEqual(await complete('read', '--order', ''), ['newest', 'oldest']);
      assert.deepEqual(await complete('completion', ''), ['bash', 'fish', 'zsh']);
      assert.deepEqual(await complete('serve', '--data', '/et'), [
        shell === 'bash' ? '/etc' : '/etc/',
      ]);
    });
  }

  test('all commands and options in zsh, whose syntax it keeps', needs('zsh'), async () => {
    const file = join(folder.path, 'zsh');
    const script = zshCompletion(commands);
    await writeFile(file, script);
    await run('zsh', ['-n', file]);
    for (const { name, options } of commands) {
      const line = script.split('\n').find((text) => text.startsWith(`    ${name}) `)) ?? '';
      for (const { names } of options)
        for (const flag of names) assert.ok(line.includes(`'${flag}[`), `${name} ${flag}`);
    }
  });
});
