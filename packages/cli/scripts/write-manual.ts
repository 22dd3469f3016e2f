/** Writes `docs/command.md` from the commands. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import manifest from '../package.json' with { type: 'json' };
import { commandTable } from '../src/manual/command-table.ts';
import { commandReference, type Manual } from '../src/manual/markdown.ts';
import { createProgram } from '../src/program.ts';
import { unusedContext } from './unused-context.ts';

const program = await createProgram(unusedContext(), manifest.version);
const manual: Manual = {
  program: program.name(),
  description: program.description(),
  version: manifest.version,
  commands: commandTable(program),
};
writeFileSync(join(import.meta.dirname, '../../../docs/command.md'), commandReference(manual));
