import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { suite, test } from 'node:test';

import { dataFolder, startGatewayProcess } from '../../../../test/gateway-process.ts';
import { SETTINGS } from './configuration.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

interface Run {
  readonly code: number;
  readonly output: string;
}

function config(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const options = { env: { ...process.env, ...env } };
  const child = execFile(
    process.execPath,
    [MAIN, 'config', ...args],
    options,
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
  );
  return promise;
}

suite('presence config', () => {
  test('says where each setting comes from: flag, environment, file, default', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'presence.env');
    await writeFile(
      file,
      '\ufeffPRESENCE_PORT=1\nPRESENCE_HOST=::1\nPRESENCE_THREADS=3\nPRESENCE_PROT=4\nPRESENCE_LOG # ?\n',
    );
    // The last name is what a container platform sets.
    const env = {
      PRESENCE_HOST: '127.0.0.2',
      PRESENCE_THREADS: '2',
      PRESENCE_URL: 'http://127.0.0.1',
      PRESENCE_DTAA: '/srv',
      PRESENCE_PORT_7777_TCP: 'tcp://10.0.0.1:7777',
    };
    const args = ['--config', file, '--threads', '1', '--json'];
    const { code, output } = await config(args, env);
    assert.equal(code, 0, output);
    const { settings, listens, stores, threads, unknown } = JSON.parse(output) as {
      settings: { flag: string; value: unknown; source: string | null }[];
      listens: string;
      stores: string;
      threads: number;
      unknown: string[];
    };
    const found = new Map(settings.map(({ flag, value, source }) => [flag, [value, source]]));
    assert.deepEqual(found.get('--threads'), [1, 'flag']);
    assert.deepEqual(found.get('--host'), ['127.0.0.2', 'environment']);
    assert.deepEqual(found.get('--port'), [1, 'file']);
    assert.deepEqual(found.get('--log-level'), ['info', 'default']);
    assert.deepEqual(found.get('--public-url'), [null, null]);
    assert.equal(settings.length, SETTINGS.length);
    assert.equal(listens, '127.0.0.2:1');
    assert.equal(stores, resolve('presence-data'));
    assert.equal(threads, 1);
    assert.deepEqual(unknown, [
      'PRESENCE_PROT',
      'PRESENCE_LOG # ?',
      'PRESENCE_DTAA',
      'PRESENCE_PORT_7777_TCP',
    ]);
  });

  test('shows a table, and refuses what serve would refuse', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'presence.env');
    await writeFile(
      file,
      'PRESENCE_PORT=http\nPRESENCE_THREADS=2\nPRESENCE_LOG=nats://u:secret@a,b\nPRESENCE_LOG_LEVEL=loud\n',
    );
    const [plain, refused, missing] = await Promise.all([
      config(['--metrics', '127.0.0.1:7411']),
      config(['--config', file]),
      config(['--config', join(folder.path, 'none')]),
    ]);
    assert.match(plain.output, /^--metrics +PRESENCE_METRICS +flag +127\.0\.0\.1:7411$/m);
    assert.match(plain.output, /^Listens on 127\.0\.0\.1:7410$/m);
    assert.doesNotMatch(plain.output, /--port|--host/);
    assert.equal(refused.code, 1);
    assert.match(
      refused.output,
      /^Cannot use PRESENCE_PORT=http of ".*"\. It must be a whole number.*\nName three NATS servers.*\nCannot use PRESENCE_LOG_LEVEL=loud of /,
    );
    assert.doesNotMatch(refused.output, /secret/);
    assert.equal(missing.code, 1);
    assert.match(missing.output, /^Cannot read the settings in/);
  });

  test('refuses a mirror in a cluster', async () => {
    const args = ['--log', 'nats://127.0.0.1:4222'];
    const { code, output } = await config(args, { PRESENCE_MIRROR: 'http://127.0.0.1:7410' });
    assert.equal(code, 1);
    assert.match(output, /leave out --mirror or --log/);
  });

  test('refuses an address of NATS servers that no gateway could use', async () => {
    const addresses = ['nats://u:%ff@a', 'nats://u:1%@a', 'nats://a:99999', 'tls://a?ca=b&ca=c'];
    for (const address of addresses) {
      const { code, output } = await config(['--log', address]);
      assert.equal(code, 1, output);
      assert.match(output, /^--log or PRESENCE_LOG is no address of NATS servers/);
    }
  });

  test('refuses NATS servers that are only two, or named twice', async () => {
    for (const address of ['nats://a,b', 'nats://a,a,b']) {
      const { code, output } = await config(['--log', address]);
      assert.equal(code, 1, output);
      assert.match(output, /^Name three NATS servers or more .*, each once\./);
    }
  });

  test('says what an address of metrics must be', async () => {
    for (const address of ['nonsense', '/run/metrics.sock']) {
      const { code, output } = await config(['--metrics', address]);
      assert.equal(code, 1);
      assert.match(output, /It must be an address and a port, such as 127\.0\.0\.1:7411/);
    }
  });

  test('does not show a password', async () => {
    const { output } = await config(['--log', 'nats://gate:secret@127.0.0.1:4222']);
    assert.match(output, /nats:\/\/gate:…@127\.0\.0\.1:4222/);
    const refused = await config(['--log', 'nats://gate:secret@', '--port', '1']);
    assert.equal(refused.code, 1);
    assert.doesNotMatch(refused.output, /secret/);
  });

  test('takes every option of serve, and says how many threads can serve there', async () => {
    const args = ['--listen', 'unix:/run/presence.sock', '--threads', '4', '--read-only', 'moving'];
    const { code, output } = await config(args);
    assert.equal(code, 0, output);
    assert.match(output, /^Serves with one thread, since several cannot listen on this socket$/m);
  });

  test('shows what the unit of the package serves', async () => {
    const file = join(import.meta.dirname, '../../../../deploy/presence.env');
    const { output } = await config(['--config', file, '--listen', 'fd:0']);
    assert.match(output, /^Listens on fd:0\nStores in \/var\/lib\/presence$/m);
  });

  test('shows the settings that serve takes from the same file', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'presence.env');
    const data = join(folder.path, 'log #1');
    const lines = [
      'METRICS=127.0.0.1:0',
      'LOG_REQUESTS=yes',
      `DATA='${data}'`,
      'PROT=4',
      'URL x://a:b@c',
    ];
    await writeFile(file, `# Settings\n${lines.map((line) => `PRESENCE_${line}\r\n`).join('')}`);
    const inForce = await config(['--config', file, '--json']);
    assert.equal((JSON.parse(inForce.output) as { stores: string }).stores, data);
    await using gateway = await startGatewayProcess({
      args: ['--config', file, '--threads', '1'],
      env: { PRESENCE_METRICS_: 'x' },
    });
    assert.equal((await fetch(`${gateway.url}/api`)).status, 200);
    await gateway.stop();
    assert.match(gateway.output(), /"metrics":"http:\/\/127\.0\.0\.1:\d+\/metrics"/);
    assert.match(gateway.output(), /"path":"\/api","door":"rest","status":200/);
    for (const name of ['PRESENCE_PROT', 'PRESENCE_URL x://a:…@c'])
      assert.ok(
        gateway.output().includes(`"name":"${name}","msg":"the file of settings has`),
        name,
      );
    const told = /"name":"PRESENCE_METRICS_","msg":"the environment has what is no setting"/;
    assert.match(gateway.output(), told);
  });
});
