/**
 * The official conformance suite, against a real gateway: of its scenarios for servers, those that
 * a gateway can take as it is.
 *
 * The others ask for what only a test server has, and are left out by these names:
 * - the tools `test_…` and `json_schema_2020_12_tool`, the prompts `test_…` and the resources
 *   `test://…`: tools-call-*, json-schema-2020-12, resources-read-*, resources-templates-read,
 *   prompts-get-*, elicitation-*, input-required-result-*, http-custom-header-server-validation.
 * - capabilities that the gateway does not declare: logging-set-level, tools-call-with-logging,
 *   completion-complete; and for clients before 2026-07-28, whom a server without sessions cannot
 *   send anything: resources-subscribe, resources-unsubscribe.
 * - sessions: server-session-lifecycle, server-sse-polling and, before 2026-07-28,
 *   server-sse-multiple-streams.
 * - extensions: sep-2640-*, tasks-*.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { fields, list, text, type Fields } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const OLDER = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list'];
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2025-06-18': OLDER,
  '2025-11-25': [...OLDER, 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'caching',
    'http-header-validation',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
};
/** Checks of `server-stateless` that need a tool of a test server. */
const UNTESTABLE = /^Not testable: server does not list the diagnostic tool 'test_\w+'/;

suite('the official conformance suite', () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = await startGatewayProcess();
  });
  after(() => gateway[Symbol.asyncDispose]());

  for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
    for (const scenario of scenarios) {
      test(`${revision}: ${scenario}`, async () => {
        const checks = await checked(gateway.url, revision, scenario);
        const passed = checks.filter((check) => check['status'] === 'SUCCESS');
        assert.ok(passed.length > 0);
        const failed = checks.filter((check) => {
          const untestable = UNTESTABLE.test(String(check['errorMessage']));
          return ['FAILURE', 'WARNING'].includes(text(check['status'])) && !untestable;
        });
        assert.deepEqual(failed, []);
        const left = checks.filter((check) => UNTESTABLE.test(String(check['errorMessage'])));
        assert.equal(left.length, scenario === 'server-stateless' ? 4 : 0);
      });
    }
  }
});

/** The checks of a scenario, as the suite's own command wrote them down. */
async function checked(url: string, revision: string, scenario: string): Promise<Fields[]> {
  await using folder = await dataFolder();
  const asked = ['--scenario', scenario, '--spec-version', revision, '-o', folder.path];
  const { promise, resolve } = Promise.withResolvers<string>();
  // Its exit code counts what cannot be tested as failed.
  execFile(process.execPath, [SUITE, 'server', '--url', `${url}/mcp`, ...asked], (_, out, err) =>
    resolve(out + err),
  );
  const said = await promise;
  for await (const file of glob(join(folder.path, '**/checks.json'))) {
    return list(JSON.parse(await readFile(file, 'utf8'))).map(fields);
  }
  assert.fail(said);
}
