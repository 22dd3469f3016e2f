/** What an installed package of the protocol has, beside which the contract is looked for. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { asObject, asArray } from '../../conformance/value.ts';
import { dataFolder } from '../gateway-process.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const PARTS = ['PROTOCOL.md', 'packages/protocol'];

it('the package of the protocol has the contract and the language in it', async () => {
  await using folder = await dataFolder();
  // Packed elsewhere: what packing puts beside the source would be found by others meanwhile.
  for (const part of PARTS)
    await cp(join(ROOT, part), join(folder.path, part), { recursive: true });
  const cwd = join(folder.path, 'packages/protocol');
  const { stdout } = await run('npm', ['pack', '--json', '--offline'], { cwd });
  const [packed] = asArray(JSON.parse(stdout.slice(stdout.search(/^\[/m)))).map(asObject);
  await run('tar', ['-xf', String(packed?.['filename'])], { cwd });
  for (const [inside, source] of [
    ['PROTOCOL.md', 'PROTOCOL.md'],
    ['mova-snu.yaml', 'packages/protocol/mova-snu.yaml'],
  ] as const) {
    const found = await readFile(join(cwd, 'package', inside), 'utf8');
    assert.equal(found, await readFile(join(ROOT, source), 'utf8'));
  }
});
