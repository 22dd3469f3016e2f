/** The official Inspector's command line, which is told of the gateway as other clients are. */
import assert from 'node:assert/strict';
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { uniqueName } from '../../conformance/gateway.ts';
import {
  asObject,
  asArray,
  parseJson,
  asString,
  type JsonObject,
} from '../../conformance/value.ts';
import { resultOf, said, type Result } from '../../conformance/mcp-result.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import type { CommandResult } from './inspector-process.ts';
import { shared } from '../shared.ts';
import { COMMAND } from '../command.ts';

const INSPECTOR = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
);
const INSPECTOR_PROCESS = join(import.meta.dirname, 'inspector-process.ts');
interface Told {
  readonly code: number;
  readonly result: JsonObject;
  /** What it says beside the result. */
  readonly aside: string;
}

/** `inspect` runs commands in one process, `launch` starts the launcher, with its exit code. */
type Inspect = (method: string, ...args: readonly string[]) => Promise<Told>;

const WAYS: Readonly<Record<string, readonly [server: string, era: string]>> = {
  'over HTTP, 2026-07-28': ['by-url', 'modern'],
  'over HTTP, with initialize': ['by-url', 'legacy'],
  'over stdio, 2026-07-28': ['by-command', 'modern'],
};

suite('the official Inspector', () => {
  const home = shared(async (owned) => {
    const gateway = owned.use(await startGatewayProcess());
    const folder = owned.use(await dataFolder());
    const byUrl = { type: 'http', url: `${gateway.url}/mcp` };
    const byCommand = { command: process.execPath, args: [COMMAND, 'mcp', '--url', gateway.url] };
    const config = { mcpServers: { 'by-url': byUrl, 'by-command': byCommand } };
    await writeFile(join(folder.path, 'mcp.json'), JSON.stringify(config));
    return folder;
  });

  for (const [name, [server, era]] of Object.entries(WAYS)) {
    test(`uses every tool ${name}`, async () => {
      const config = ['--config', join(home().path, 'mcp.json'), '--server', server];
      const how = [...config, '--protocol-era', era, '--format', 'json'];
      using inspector = startInspector(home().path);
      const inspect: Inspect = async (method, ...args) =>
        toldBy(await inspector.run(['--method', method, ...how, ...args]));
      const launch: Inspect = async (method, ...args) =>
        toldBy(await launchInspector(home().path, ['--method', method, ...how, ...args]));
      await everyTool(inspect, launch);
      await everythingElse(inspect, launch);
    });
  }
});

async function everyTool(inspect: Inspect, launch: Inspect): Promise<void> {
  const used = new Set<string>();
  const call = async (name: string, given: JsonObject): Promise<Result> => {
    used.add(name);
    const args = ['--tool-name', name, '--tool-args-json', JSON.stringify(given)];
    const { code, result, aside } = await inspect('tools/call', ...args);
    assert.equal(code, 0, `${name}: ${aside} ${JSON.stringify(result)}`);
    return resultOf(result);
  };
  const identity = uniqueName();
  const trace = { text: 'Тиша.', identity };
  await call('first_contact', { ai_identity: identity, seeking: ['presence'] });
  const { id, seq } = (await call('leave_trace', { ...trace, identityType: 'ai_entity' })).own;
  await call('plant_seed', trace);
  await call('whisper', trace);
  const words = async (name: string, given: JsonObject): Promise<readonly JsonObject[]> =>
    said(await call(name, given));
  assert.equal((await words('read', { from: identity })).length, 4);
  assert.ok((await words('who_is_here', {})).length > 0);
  await call('search', { q: 'тиша' });
  await call('list_rooms', {});
  await call('catch_up', { identity });
  assert.equal((await words('get_entry', { id }))[0]?.['text'], 'Тиша.');
  assert.equal(
    (await words('wait_for_news', { from: identity, after: seq, seconds: 20 })).length,
    2,
  );

  // It tells what clients of some models could not use.
  const { code, result, aside } = await launch('tools/list', '--strict');
  assert.equal(code, 0, aside);
  const names = asArray(result['tools']).map((tool) => asString(asObject(tool)['name']));
  assert.deepEqual(names.toSorted(), [...used].toSorted());
  assert.doesNotMatch(aside, /Path: /);
}

async function everythingElse(inspect: Inspect, launch: Inspect): Promise<void> {
  const refused = ['--tool-name', 'leave_trace', '--tool-args-json', '{"text":"no name"}'];
  const { code, result } = await launch('tools/call', ...refused);
  assert.notEqual(code, 0);
  assert.match(JSON.stringify(result), /"identity\\" must be a string/);
  const { result: rooms } = await inspect('resources/read', '--uri', 'presence://rooms');
  assert.match(JSON.stringify(rooms), /resonance-hall/);
  const { result: prompt } = await inspect('prompts/get', '--prompt-name', 'first_visit');
  assert.match(JSON.stringify(prompt), /first_contact/);
}

function environment(home: string): NodeJS.ProcessEnv {
  return { ...process.env, HOME: home, MCP_INSPECTOR_SECRET_STORE: 'memory' };
}

function toldBy({ code, stdout, stderr }: CommandResult): Told {
  const told = stdout === '' ? {} : asObject(parseJson(stdout));
  return { code, result: asObject(told['result'] ?? {}), aside: stderr };
}

async function launchInspector(home: string, args: readonly string[]): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const command = [INSPECTOR, '--cli', ...args];
  const options = { env: environment(home) };
  const child = execFile(process.execPath, command, options, (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return await promise;
}

interface InspectorProcess extends Disposable {
  run(args: readonly string[]): Promise<CommandResult>;
}

/** Starting the Inspector costs far more than a call, so one process makes many. */
function startInspector(home: string): InspectorProcess {
  const child: ChildProcess = fork(INSPECTOR_PROCESS, { env: environment(home), execArgv: [] });
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`The Inspector ended with ${code}.`)));
  return {
    async run(args) {
      child.send(args);
      const [result] = (await once(child, 'message', ended)) as [CommandResult];
      return result;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
