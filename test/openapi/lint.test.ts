/** The OpenAPI document before the linters that others use; none of them reaches the network. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { shared } from '../shared.ts';
import { textAt } from '../requests.ts';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '../node_modules/.bin');
/** Whatever would be asked of the network is refused at once. */
const OFFLINE = {
  ...process.env,
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

/** Whom to write to, and under which terms, is its operator's to say. Errors are the default answer. */
const REDOCLY =
  'extends: [recommended]\nrules:\n  info-license: off\n  operation-4xx-response: off\n';
const SPECTRAL = 'extends: ["spectral:oas"]\nrules:\n  info-contact: off\n';

/** Each checks all files in one process, and ends with a status other than 0 if it finds errors. */
const LINTERS: Readonly<Record<string, readonly string[]>> = {
  redocly: ['lint', '--config', 'redocly.yaml'],
  spectral: ['lint', '--fail-on-unmatched-globs', '--ruleset', 'spectral.yaml'],
};

const DOCUMENTS = ['openapi.json', 'openapi.yaml'];

describe('the OpenAPI document', () => {
  const folder = shared(async (owned) => {
    const gateway = owned.use(await startGatewayProcess());
    const made = owned.use(await dataFolder());
    const write = (name: string, text: string): Promise<void> =>
      writeFile(join(made.path, name), text);
    await write('redocly.yaml', REDOCLY);
    await write('spectral.yaml', SPECTRAL);
    for (const name of DOCUMENTS) await write(name, await textAt(`${gateway.url}/${name}`));
    return made;
  });

  for (const [linter, args] of Object.entries(LINTERS)) {
    it(`is not complained of by ${linter}, in either form`, async () => {
      const { stdout, stderr } = await run(
        process.execPath,
        [join(BIN, linter), ...args, ...DOCUMENTS],
        {
          env: OFFLINE,
          cwd: folder().path,
        },
      );
      const output = stdout + stderr;
      assert.match(output, /descriptions are valid|No results/i);
      assert.doesNotMatch(output, /warning/i);
    });
  }
});
