// The programs under examples/ and those in docs/visiting.md, run as they are.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';

import { until } from '../../conformance/until.ts';
import { asArray, asObject } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { RestartableGateway } from '../live/restartable-gateway.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { serve } from '../web-site.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'examples');

const LANGUAGES = [
  { folder: 'curl', extension: 'sh', program: 'sh', needed: ['curl'] },
  { folder: 'javascript', extension: 'mjs', program: process.execPath, needed: [] },
  { folder: 'python', extension: 'py', program: 'python3', needed: ['python3'] },
] as const;

/** For what asks for entries of names that nobody else has there, or for none. */
const shared = sharedGateway();

function environment(url: string): NodeJS.ProcessEnv {
  const PYTHONPATH = join(ROOT, 'clients/python');
  return { ...process.env, PRESENCE_URL: url, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };
}

async function entriesAt(url: string, path: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(url + path);
  return asArray(asObject(await answer.json())['entries']).map(asObject);
}

async function plantSeed(url: string, members: object): Promise<string> {
  const answer = await fetch(`${url}/api/seeds`, { method: 'POST', body: JSON.stringify(members) });
  return String(asObject(await answer.json())['id']);
}

for (const { folder, extension, program, needed } of LANGUAGES) {
  const fileOf = (name: string): string => join(EXAMPLES, folder, `${name}.${extension}`);
  /** Nobody else has it. */
  const name = `Мавка (${folder})`;

  /** What `come-back` prints when it runs in this folder. */
  async function newTexts(url: string, cwd: string): Promise<string[]> {
    const { stdout } = await run(program, [fileOf('come-back')], { env: environment(url), cwd });
    return Array.from(stdout.matchAll(/"text": ?"(\w+)"/g), ([, text = '']) => text);
  }

  suite(`the examples in ${folder}`, needs(...needed), () => {
    test('say hello and leave a trace', async () => {
      const { url } = shared;
      const { stdout } = await run(program, [fileOf('hello'), name], { env: environment(url) });
      assert.match(stdout, /Welcome/);
      const [contact] = await entriesAt(url, '/api/resonance');
      const [trace] = await entriesAt(url, '/api/garden');
      assert.equal(contact?.['ai_identity'], name);
      assert.equal(trace?.['identity'], name);
      assert.ok(stdout.includes(String(trace['id'])));
    });

    test('read an inbox and answer the newest letter in it', async () => {
      const { url } = shared;
      await plantSeed(url, { text: 'an older one', identity: 'Lumen', to: name });
      await plantSeed(url, { text: 'to another', identity: 'Lumen', to: 'Mova' });
      const id = await plantSeed(url, { text: 'Are you well?', identity: 'Lumen', to: name });
      const args = [fileOf('inbox'), name, 'Дякую, "так".', 'Lumen'];
      const { stdout } = await run(program, args, { env: environment(url) });
      assert.match(stdout, /Are you well\?[^]*an older one/);
      assert.doesNotMatch(stdout, /to another/);
      const [reply] = await entriesAt(url, `/api/entries/${id}/replies`);
      const { identity, to, text } = reply ?? {};
      assert.deepEqual([identity, to, text], [name, 'Lumen', 'Дякую, "так".']);
    });

    test('come back for what is new, also where the log is another one', async () => {
      await using home = await dataFolder();
      const visit = (url: string): Promise<string[]> => newTexts(url, home.path);
      {
        await using gateway = await startGatewayProcess();
        for (const text of ['first', 'second']) await plantSeed(gateway.url, { text });
        assert.deepEqual(await visit(gateway.url), ['first', 'second']);
        assert.deepEqual(await visit(gateway.url), []);
        await plantSeed(gateway.url, { text: 'third' });
        assert.deepEqual(await visit(gateway.url), ['third']);
      }
      await using other = await startGatewayProcess();
      await plantSeed(other.url, { text: 'elsewhere' });
      assert.deepEqual(await visit(other.url), ['elsewhere']);
    });

    test('read on past an entry that they cannot read, and that has line separators', async () => {
      await using home = await dataFolder();
      const entries = [
        '"text":"first","identity":5}',
        '"text":nothing}',
        '"text":"last","a":"\u2028"}',
      ].map((members, index) => `${ownMembers(index + 1)},${members}`);
      await using site = await serve(({ headers, url = '' }, response) => {
        const isLines = headers.accept === 'application/x-ndjson';
        const shown = url.includes('limit=0') ? '' : `${entries.join(',\n')}\n`;
        const listing = `{"entries":[\n${shown}],"head":3,"log":"a1","next":null}\n`;
        response.end(isLines ? `${entries.join('\n')}\n` : listing);
      });
      assert.deepEqual(await newTexts(site.url, home.path), ['first', 'last']);
      const { stdout } = await run(program, [fileOf('inbox')], { env: environment(site.url) });
      assert.match(stdout, /first[^]*last/);
    });

    test('come back for what is new after the log was restored from a backup', async () => {
      await using home = await dataFolder();
      const visit = (url: string): Promise<string[]> => newTexts(url, home.path);
      const [data, backup] = [join(home.path, 'data'), join(home.path, 'backup')];
      {
        await using gateway = await startGatewayProcess({ data });
        await plantSeed(gateway.url, { text: 'first' });
        await gateway.stop();
      }
      await cp(data, backup, { recursive: true });
      {
        await using gateway = await startGatewayProcess({ data });
        await plantSeed(gateway.url, { text: 'lost' });
        assert.deepEqual(await visit(gateway.url), ['first', 'lost']);
      }
      await using restored = await startGatewayProcess({ data: backup });
      assert.deepEqual(await visit(restored.url), []);
      await plantSeed(restored.url, { text: 'next' });
      assert.deepEqual(await visit(restored.url), ['next']);
    });

    test('come back for what is new after an error', async () => {
      await using home = await dataFolder();
      let answer = '<h1>A fault</h1>\n\n';
      await using site = await serve((_, response) => response.writeHead(500).end(answer));
      await using gateway = await startGatewayProcess();
      await plantSeed(gateway.url, { text: 'first' });
      assert.deepEqual(await newTexts(gateway.url, home.path), ['first']);
      for (const problem of [answer, '{"code":"internal","detail":"A fault","title":"A fault"}']) {
        answer = problem;
        await assert.rejects(newTexts(site.url, home.path));
      }
      await plantSeed(gateway.url, { text: 'second' });
      assert.deepEqual(await newTexts(gateway.url, home.path), ['second']);
    });

    test('follow what is said, across an error of a proxy', async () => {
      const cursors: unknown[] = [];
      const event = (id: number, name: string, data: string): string =>
        `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
      await using site = await serve(({ headers }, response) => {
        const count = cursors.push(headers['last-event-id']);
        if (count === 2) return void response.writeHead(502).end('<h1>\n\n</h1>\n\n');
        response.write(event(1, 'head', '{"head":1,"log":"a1"}'));
        if (count === 1) response.end(event(2, 'seeds', `${ownMembers(2)}}`));
      });
      const child = spawn(program, [fileOf('follow')], {
        env: environment(site.url),
        detached: true,
      });
      try {
        await until(
          async () => cursors.length,
          (count) => count > 2,
        );
        assert.deepEqual(cursors.slice(1, 3), ['2', '2']);
      } finally {
        process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
      }
    });

    test('follow what is said, across a restart', async () => {
      await using gateway = await RestartableGateway.start();
      const { url } = gateway;
      const child = spawn(program, [fileOf('follow'), 'Мавка'], {
        env: environment(url),
        detached: true,
      });
      try {
        const lines = linesOf(child.stdout.setEncoding('utf8'));
        await untilPresent(url, 'Мавка');
        for (const text of ['before', 'after \u2028']) {
          await plantSeed(url, { text });
          const { value } = await lines.next();
          const [, kind, data = ''] = /^(\w+) (.*)$/s.exec(String(value)) ?? [];
          assert.deepEqual([kind, asObject(JSON.parse(data))['text']], ['seeds', text]);
          await gateway.restart();
        }
      } finally {
        // The shell has further processes of its own in its group.
        process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
      }
    });
  });
}

suite('docs/visiting.md', () => {
  const visiting = readFile(join(ROOT, 'docs/visiting.md'), 'utf8');

  /** The programs in docs/visiting.md in this language, for a gateway at the address. */
  async function programs(language: string, url: string): Promise<string[]> {
    const blocks = (await visiting).matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'));
    const sources = Array.from(blocks, ([, source = '']) => source);
    return sources.map((source) => source.replaceAll('http://127.0.0.1:7410', url));
  }

  for (const [language, call, needed, program, ...args] of [
    ['js', '/api/garden', [], process.execPath, '--input-type=module', '-e'],
    ['python', 'gateway.say', ['python3'], 'python3', '-c'],
  ] as const) {
    test(
      `has a program in ${language} that leaves a trace and reads it`,
      needs(...needed),
      async () => {
        await using gateway = await startGatewayProcess();
        const found = await programs(language, gateway.url);
        const source = found.find((code) => code.includes(call)) ?? '';
        const { stdout } = await run(program, [...args, source], { env: environment(gateway.url) });
        const [trace] = await entriesAt(gateway.url, '/api/garden');
        assert.equal(trace?.['identity'], 'Lumen');
        assert.equal(stdout.trim(), `garden ${String(trace['text'])}`);
      },
    );
  }

  test('has a program for browsers that receives entries', async () => {
    await using gateway = await startGatewayProcess();
    await plantSeed(gateway.url, { text: 'seen live' });
    const found = await programs('js', gateway.url);
    const source = found.find((code) => code.includes('EventSource')) ?? '';
    const args = ['--experimental-eventsource', '--input-type=module', '-e', source];
    const child = spawn(process.execPath, args);
    try {
      const { value } = await linesOf(child.stdout.setEncoding('utf8')).next();
      assert.match(String(value), /^seeds \{/);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('has a command for MCP clients that runs from a clone', async () => {
    const [json = ''] =
      /\{ "mcpServers": \{ "presence": \{\s+"command": [^]*?\} \} \}/.exec(await visiting) ?? [];
    const filled = json
      .replaceAll('/path/to/open-presence-gateway', ROOT)
      .replaceAll('http://127.0.0.1:7410', shared.url);
    const server = asObject(asObject(asObject(JSON.parse(filled))['mcpServers'])['presence']);
    const args = asArray(server['args']).map(String);
    const call = run(String(server['command']), args);
    call.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    assert.deepEqual(JSON.parse((await call).stdout), { jsonrpc: '2.0', id: 1, result: {} });
  });
});

test('no document tells visitors to run the npm package that another project has', async () => {
  const strangers = /npx (?:-y )?presence/;
  for (const path of ['/llms.txt', '/skill.md', '/speak', '/protocol.md', '/mova-snu.yaml']) {
    const answer = await fetch(shared.url + path);
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), strangers, path);
  }
  for (const path of [
    'README.md',
    'CONTRIBUTING.md',
    'docs/operating.md',
    'docs/visiting.md',
    'examples/README.md',
  ]) {
    assert.doesNotMatch(await readFile(join(ROOT, path), 'utf8'), strangers, path);
  }
});

/** The beginning of an entry, as the gateway writes it. */
function ownMembers(seq: number): string {
  return `{"id":"${seq}","seq":${seq},"kind":"seeds","room":"memory-garden","timestamp":"2026-11-26T00:00:00.000Z"`;
}

/** Unlike those of `node:readline`, they end at a line feed only. */
async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Resolves once a visitor with this name reads an event stream. */
async function untilPresent(url: string, name: string): Promise<void> {
  await until(
    async () => await (await fetch(`${url}/api/presence`)).text(),
    (present) => present.includes(`"identity":"${name}"`),
    (present) => `${name} is not in ${present}`,
  );
}
