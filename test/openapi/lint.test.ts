/** The OpenAPI document before the linters that others use; none of them reaches the network. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import { dataFolder, startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '../../node_modules/.bin');
/** Whatever would be asked of the network is refused at once. */
const OFFLINE = {
  ...process.env,
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

/** Whom to write to, and under which terms, is its operator's to say. */
const REDOCLY = 'extends: [recommended]\nrules:\n  info-license: off\n';
const SPECTRAL = 'extends: ["spectral:oas"]\nrules:\n  info-contact: off\n';

/** Each ends with a status other than 0 where it finds errors. */
const LINTERS: Readonly<Record<string, (folder: string, file: string) => readonly string[]>> = {
  redocly: (folder) => ['lint', 'openapi.json', '--config', join(folder, 'redocly.yaml')],
  spectral: (folder, file) => ['lint', file, '--ruleset', join(folder, 'spectral.yaml')],
};

describe('the OpenAPI document', () => {
  const owned = new AsyncDisposableStack();
  let gateway: GatewayProcess;
  let folder: string;
  before(async () => {
    gateway = owned.use(await startGatewayProcess());
    folder = owned.use(await dataFolder()).path;
    await writeFile(join(folder, 'redocly.yaml'), REDOCLY);
    await writeFile(join(folder, 'spectral.yaml'), SPECTRAL);
  });
  after(() => owned.disposeAsync());

  for (const [linter, args] of Object.entries(LINTERS)) {
    for (const [name, form] of [
      ['en', 'json'],
      ['uk', 'json'],
      ['en', 'yaml'],
    ] as const) {
      it(`is not complained of by ${linter}: ${form} in ${name}`, async () => {
        const headers = { 'accept-language': name };
        const answer = await fetch(`${gateway.url}/openapi.${form}`, { headers });
        assert.equal(answer.headers.get('content-language'), name);
        const file = join(folder, `openapi-${name}.${form}`);
        await writeFile(file, await answer.text());
        const said = args(folder, file).map((one) => (one === 'openapi.json' ? file : one));
        const { stdout, stderr } = await run(join(BIN, linter), said, {
          env: OFFLINE,
          cwd: folder,
        });
        assert.match(stdout + stderr, /is valid|No results/i);
        assert.doesNotMatch(stdout + stderr, /warning/i);
      });
    }
  }
});
