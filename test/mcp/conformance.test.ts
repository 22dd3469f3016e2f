/**
 * The official conformance suite, all of its scenarios for servers: against a real gateway, and,
 * where they ask for tools, prompts and resources of a test server, against the real door with
 * those behind it. What can be asked of neither is named in `LEFT_OUT`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { dataFolder } from '../gateway-process.ts';
import { startSuiteGateway } from '../../packages/gateway/src/doors/mcp/suite-gateway.fixture.ts';
import { shared, sharedGateway } from '../shared.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

const WITH_INITIALIZE = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
];
const REAL: Readonly<Record<string, readonly string[]>> = {
  '2025-06-18': WITH_INITIALIZE,
  '2025-11-25': [...WITH_INITIALIZE, 'dns-rebinding-protection'],
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

const CONTENT = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];
const BEHIND_THE_DOOR: Readonly<Record<string, readonly string[]>> = {
  '2025-06-18': [...CONTENT, 'tools-call-with-logging'],
  '2025-11-25': [...CONTENT, 'tools-call-with-logging', 'json-schema-2020-12'],
  '2026-07-28': [
    ...CONTENT,
    'json-schema-2020-12',
    'server-stateless',
    'http-header-validation',
    'http-custom-header-server-validation',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-unsupported-methods',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

/** There are no sessions, so that any thread and any gateway of a cluster can answer any request. */
const SESSIONS = ['server-session-lifecycle'];
/**
 * Nor, for clients with `initialize`, what only a session has: a stream that the server opens, or
 * resumes, and answers to what it asked. So `resources.subscribe` is not declared to them.
 */
const OF_SESSIONS = [
  ...SESSIONS,
  'resources-subscribe',
  'resources-unsubscribe',
  'tools-call-sampling',
  'tools-call-elicitation',
];
/** Capabilities that the gateway does not declare: it has nothing to complete, and logs for its operator. */
const UNDECLARED = ['completion-complete'];
const LOGGING = 'logging-set-level';

const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  '2025-03-26': SESSIONS,
  '2025-06-18': [...OF_SESSIONS, ...UNDECLARED, LOGGING],
  '2025-11-25': [
    ...OF_SESSIONS,
    ...UNDECLARED,
    LOGGING,
    'server-sse-polling',
    'server-sse-multiple-streams',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  '2026-07-28': UNDECLARED,
  // The gateway declares none.
  extension: [
    'sep-2640-skills-directory',
    'sep-2640-skills-enumeration',
    'sep-2640-skills-manifest',
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-status-notifications',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
  ],
};

/** Checks of `server-stateless` that need a tool of a test server. */
const UNTESTABLE = /^Not testable: server does not list the diagnostic tool 'test_\w+'/;

suite('the official conformance suite', () => {
  const gateway = sharedGateway();
  const behind = shared(async (owned) => owned.use(await startSuiteGateway()));

  test('has no scenario for servers that is neither run nor named as left out', async () => {
    const output = await outputOf(['list', '--server']);
    const existing = [...output.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].flatMap(
      ([, name, revisions]) =>
        (revisions ?? '').split(',').map((revision) => `${revision}: ${name}`),
    );
    assert.ok(existing.length > 0, output);
    const named = [REAL, BEHIND_THE_DOOR, LEFT_OUT].flatMap((table) =>
      Object.entries(table).flatMap(([revision, names]) =>
        names.map((name) => `${revision}: ${name}`),
      ),
    );
    assert.deepEqual(existing.toSorted(), [...new Set(named)].toSorted());
  });

  for (const [revision, scenarios] of Object.entries(REAL)) {
    suite(revision, () => {
      let results: Results;
      before(async () => {
        results = await resultsOf(gateway.url, revision);
      });
      for (const scenario of scenarios) {
        test(scenario, () => {
          assertPassed(results, scenario, scenario === 'server-stateless' ? 4 : 0);
        });
      }
    });
  }

  for (const [revision, scenarios] of Object.entries(BEHIND_THE_DOOR)) {
    suite(`${revision}, behind the door`, () => {
      let results: Results;
      before(async () => {
        results = await resultsOf(behind().url, revision);
      });
      for (const scenario of scenarios) {
        test(scenario, () => assertPassed(results, scenario, 0));
      }
      test('the door reported no fault of its own', () => {
        assert.deepEqual(behind().reported, []);
      });
    });
  }
});

/** The checks of each scenario. */
type Results = ReadonlyMap<string, readonly JsonObject[]>;

/** `untestable` counts the checks that need a tool which this server has not. */
function assertPassed(results: Results, scenario: string, untestable: number): void {
  const checks = results.get(scenario) ?? assert.fail('It was not run.');
  assert.ok(checks.some((check) => check['status'] === 'SUCCESS'));
  const failed = checks.filter((check) =>
    ['FAILURE', 'WARNING'].includes(asString(check['status'])),
  );
  const faults = failed.filter((check) => !UNTESTABLE.test(String(check['errorMessage'])));
  assert.deepEqual(faults, []);
  assert.equal(failed.length, untestable);
}

/** Runs every scenario of a revision in one process, which writes each one's checks to a folder. */
async function resultsOf(url: string, revision: string): Promise<Results> {
  await using folder = await dataFolder();
  const which = ['--suite', 'all', '--spec-version', revision, '-o', folder.path];
  const output = await outputOf(['server', '--url', `${url}/mcp`, ...which]);
  const results = new Map<string, JsonObject[]>();
  for (const name of await readdir(folder.path)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? assert.fail(name);
    const checks = await readFile(join(folder.path, name, 'checks.json'), 'utf8');
    results.set(scenario, asArray(JSON.parse(checks)).map(asObject));
  }
  assert.ok(results.size > 0, output);
  return results;
}

/** Both streams, whatever the exit code: that counts what cannot be tested as failed. */
async function outputOf(args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(process.execPath, [SUITE, ...args], (_, out, err) => resolve(out + err));
  return await promise;
}
