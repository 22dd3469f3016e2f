/**
 * Writes `docs/command.md`. With a folder as its argument, writes the manual pages into it instead. Both
 * are printed from the commands.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import manifest from '../package.json' with { type: 'json' };
import { commandTable } from '../src/manual/command-table.ts';
import { type Manual, manPages } from '../src/manual/man-page.ts';
import { commandReference } from '../src/manual/markdown.ts';
import { createProgram } from '../src/program.ts';
import { unusedContext } from './unused-context.ts';

const [folder] = process.argv.slice(2);
const program = await createProgram(unusedContext(), manifest.version);
const manual: Manual = {
  program: program.name(),
  description: program.description(),
  version: manifest.version,
  commands: commandTable(program),
};
if (folder === undefined) {
  const file = join(import.meta.dirname, '../../../docs/command.md');
  writeFileSync(file, commandReference(manual));
} else {
  mkdirSync(folder, { recursive: true });
  for (const [name, page] of manPages(manual)) writeFileSync(join(folder, name), page);
}
