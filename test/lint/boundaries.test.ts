// Each file under fixtures/ stands where a file of the tree could stand. One that breaks a
// dependency rule says on its first line which; the others break none.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import config from '../../oxlint.config.ts';

const root = join(import.meta.dirname, '../..');
const fixtures = globSync('test/lint/fixtures/**/*.ts', { cwd: root }).toSorted();
const findings = lint();

suite('the dependency rules', () => {
  for (const fixture of fixtures) {
    const broken = /^\/\/ (.+)$/m.exec(readFileSync(join(root, fixture), 'utf8'))?.[1];
    test(`${fixture} breaks ${broken ?? 'no rule'}`, () => {
      assert.deepEqual(findings.get(fixture) ?? [], broken === undefined ? [] : [broken]);
    });
  }

  test('each is broken by a fixture', () => {
    const texts = JSON.stringify(config.overrides).matchAll(/"message":"([^"]+)"/g);
    const stated = new Set([...texts].map(([, text]) => text)).add(CYCLE);
    assert.deepEqual(new Set([...findings.values()].flat()), stated);
  });
});

/** The linter's own text for its rule against import cycles. */
const CYCLE = 'Dependency cycle detected';

/** What the installed linter says of every fixture: the texts of the rules broken, by file. */
function lint(): Map<string, string[]> {
  const run = spawnSync(
    process.execPath,
    ['test/node_modules/.bin/oxlint', '--format=json', 'test/lint/fixtures'],
    { cwd: root, encoding: 'utf8' },
  );
  const report = JSON.parse(run.stdout) as {
    diagnostics: { filename: string; code: string; help?: string; message: string }[];
  };
  const byFile = new Map<string, string[]>();
  for (const { filename, code, help, message } of report.diagnostics) {
    const text =
      code === 'eslint(no-restricted-imports)' && help !== undefined
        ? help
        : message.replace("Unexpected use of 'process'. ", '');
    byFile.set(filename, [...(byFile.get(filename) ?? []), text]);
  }
  return byFile;
}
