import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { dataFolder, freePort, startGatewayProcess } from '../../../../test/gateway-process.ts';
import type { Finding } from './finding.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

interface Run {
  readonly code: number;
  readonly output: string;
}

function doctor(...args: readonly string[]): Promise<Run> {
  return run(process.execPath, MAIN, 'doctor', ...args);
}

function run(program: string, ...args: readonly string[]): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(program, args, (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
  );
  return promise;
}

async function findingsOf(...args: readonly string[]): Promise<[number, Map<string, Finding>]> {
  const { code, output } = await doctor(...args, '--json');
  const findings = JSON.parse(output) as readonly Finding[];
  return [code, new Map(findings.map((finding) => [finding.check, finding]))];
}

suite('presence doctor', () => {
  test('finds nothing to mend where all is well, and stores nothing', async () => {
    await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
    const { port } = new URL(gateway.url);
    const [code, found] = await findingsOf('--data', gateway.data, '--port', port);
    assert.equal(code, 0, JSON.stringify([...found.values()]));
    assert.equal(found.get('data folder')?.level, 'ok');
    assert.equal(found.get('gateway')?.text, `one runs at ${gateway.url}`);
    const head = (await (await fetch(`${gateway.url}/api/log/head`)).json()) as { head: number };
    assert.equal(head.head, 0);
  });

  test('says what is wrong with a folder and a clock', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const tomorrow = new Date(Date.now() + 86_400_000);
    await utimes(file, tomorrow, tomorrow);
    const [wrong, ahead, created] = await Promise.all([
      doctor('--data', file),
      findingsOf('--data', folder.path, '--port', '0'),
      doctor('--data', join(folder.path, 'new'), '--port', '0'),
    ]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.output, /^MEND +data folder .*it is no folder\n +Give it to the user/m);
    assert.equal(ahead[1].get('clock')?.level, 'warning');
    assert.equal(created.code, 0);
    assert.match(created.output, /^ok +data folder .* will be created/m);
  });

  test('ignores a file that is removed before it is checked', async () => {
    await using folder = await dataFolder();
    // The folder lists the link, but its file does not exist, as if a gateway had just removed it.
    await symlink(join(folder.path, 'gone'), join(folder.path, 'link'));
    const [code, found] = await findingsOf('--data', folder.path, '--port', '0');
    assert.equal(code, 0);
    assert.equal(found.get('data folder')?.level, 'ok');
    assert.equal(found.get('clock')?.level, 'ok');
  });

  test('refuses a log that serve refuses', async () => {
    await using folder = await dataFolder();
    {
      await using _gateway = await startGatewayProcess({
        data: folder.path,
        args: ['--threads', '1'],
      });
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    db.exec('PRAGMA user_version = 999');
    db.close();
    const [code, found] = await findingsOf('--data', folder.path, '--port', '0');
    assert.equal(code, 1);
    assert.equal(found.get('log')?.level, 'fault');
    assert.match(found.get('log')?.text ?? '', /has format 999.*Use the newer version/);
    await writeFile(join(folder.path, 'log.sqlite'), 'x'.repeat(8192));
    const [, spoiled] = await findingsOf('--data', folder.path, '--port', '0');
    assert.equal(spoiled.get('log')?.level, 'fault');
  });

  test('names the faults of a language file and of texts that serve refuses', async () => {
    await using folder = await dataFolder();
    const language = join(folder.path, 'own.yaml');
    await writeFile(language, 'rooms: []\n');
    const args = ['--data', folder.path, '--port', '0'];
    const wrong = await doctor(...args, '--language', language);
    assert.equal(wrong.code, 1);
    assert.match(wrong.output, /^MEND +words .*own\.yaml":\n.*must have required properties name/m);
    await writeFile(join(folder.path, 'privacy.md'), Uint8Array.of(0xff));
    const [code, found] = await findingsOf(...args);
    assert.equal(code, 1);
    assert.match(found.get('words')?.text ?? '', /privacy\.md": it is not text in UTF-8/);
  });

  test('says how many descriptors a gateway needs', async () => {
    await using folder = await dataFolder();
    const args = [MAIN, 'doctor', '--data', folder.path, '--port', '0'];
    const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, ...args];
    const { code, output } = await run('sh', ...limited);
    assert.equal(code, 1);
    assert.match(output, /^MEND +descriptors .*up to 64 .*needs 256/m);
  });

  test('says that no NATS server can be reached', async () => {
    await using folder = await dataFolder();
    const log = 'nats://127.0.0.1:1';
    const [code, found] = await findingsOf('--data', folder.path, '--port', '0', '--log', log);
    assert.equal(code, 1);
    assert.equal(found.get('NATS servers')?.level, 'fault');
  });

  test('says that pages are not built, as serve does', async () => {
    await using folder = await dataFolder();
    const hooks = `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => name === '@open-presence/web/renderer'
        ? { url: 'file:///not/built.js', shortCircuit: true } : next(name, context) });`;
    const unbuilt = `--import=data:text/javascript,${encodeURIComponent(hooks)}`;
    const args = [unbuilt, MAIN, 'doctor', '--data', folder.path, '--port', '0'];
    const { code, output } = await run(process.execPath, ...args);
    assert.equal(code, 1);
    assert.match(output, /^MEND +pages .*not built.*\n +Run "npm ci"/m);
    const env = { NODE_OPTIONS: unbuilt };
    await using gateway = await startGatewayProcess({ args: ['--threads', '1'], env });
    assert.match(gateway.output(), /pages are not built.*npm ci/);
  });

  test('mends nothing where a gateway runs that has no socket for its owner yet', async () => {
    await using gateway = await startGatewayProcess({ args: ['--threads', '1'] });
    await rm(join(gateway.data, 'control.sock'));
    const { port } = new URL(gateway.url);
    const [code, found] = await findingsOf('--data', gateway.data, '--port', port);
    assert.equal(code, 0, JSON.stringify([...found.values()]));
    assert.match(found.get('gateway')?.text ?? '', /^one runs/);
  });

  test('says that an address is in use by something else', async () => {
    await using folder = await dataFolder();
    await using other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const [code, found] = await findingsOf('--data', folder.path, '--port', port);
    assert.equal(code, 1);
    assert.match(found.get('listening')?.text ?? '', /EADDRINUSE/);
    const metrics = `127.0.0.1:${port}`;
    const counted = await doctor('--data', folder.path, '--port', '0', '--metrics', metrics);
    assert.equal(counted.code, 1);
    assert.match(counted.output, /^MEND +listening .*EADDRINUSE.*\n.*with --metrics/m);
  });

  test('says that a socket cannot be made, and that visitors and metrics need two addresses', async () => {
    await using folder = await dataFolder();
    const socket = `unix:${join(folder.path, 'none', 'presence.sock')}`;
    const [code, found] = await findingsOf('--data', folder.path, '--listen', socket);
    assert.equal(code, 1);
    assert.match(found.get('listening')?.text ?? '', /ENOENT/);
    const address = `127.0.0.1:${await freePort()}`;
    const both = ['--listen', address, '--metrics', address];
    const twice = await doctor('--data', folder.path, ...both);
    assert.equal(twice.code, 1);
    assert.match(twice.output, /^MEND +listening .*EADDRINUSE.*\n.*with --metrics/m);
  });
});
