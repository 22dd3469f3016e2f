import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import { until } from '../../../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../../../../test/gateway-process.ts';
import { serve } from '../../../../test/web-site.ts';
import { SETTINGS } from '../configuration/configuration.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command to its end. */
async function presence(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await promise, stdout, stderr };
}

suite('settings', () => {
  test('are all in the help, with variable and default', async () => {
    const { code, stdout } = await presence(['serve', '--help']);
    assert.equal(code, 0);
    const words = stdout.replaceAll(/\s+/g, ' ');
    for (const { flag, variable, default: value, description, isFormer } of SETTINGS) {
      const shown = value === undefined ? '' : `default: ${JSON.stringify(value)}, `;
      const told = `${flag} ${description} (${shown}env: ${variable})`;
      assert.equal(words.includes(told), isFormer !== true, flag);
    }
  });

  const unusable: readonly (readonly [string, string, RegExp])[] = [
    ['--port', 'http', /whole number from 0 to 65535/],
    ['--port', '70000', /whole number from 0 to 65535/],
    ['--port', '-1', /whole number from 0 to 65535/],
    ['--port', '80.5', /whole number from 0 to 65535/],
    ['--port', '', /whole number from 0 to 65535/],
    ['--host', '', /an address/],
    ['--listen', '7410', /HOST:PORT, \[IPv6\]:PORT, unix:PATH or fd:NUMBER/],
    ['--listen', 'localhost:70000', /HOST:PORT/],
    ['--listen', 'fd:stdin', /HOST:PORT/],
    ['--listen', `unix:${'x'.repeat(108)}`, /1 to 107 bytes, and this one has 108/],
    ['--data', ' ', /path of a folder/],
    ['--language', '', /path of a language file/],
    ['--public-url', 'presence.example', /http or https address/],
    ['--public-url', 'https://presence.example/?query', /http or https address/],
    ['--public-url', 'https://presence.example/gateway', /without a path/],
    ['--public-url', 'https://me@presence.example', /http or https address/],
    ['--log-level', 'loud', /one of error, warn, info, debug/],
  ];
  for (const [flag, value, wanted] of unusable) {
    const setting = SETTINGS.find((candidate) => candidate.flag.startsWith(`${flag} `));
    const variable = setting?.variable ?? '';
    test(`refuse "${value}" as ${flag} and as ${variable}`, async () => {
      const [byFlag, byVariable] = await Promise.all([
        presence(['serve', `${flag}=${value}`]),
        presence(['serve'], { [variable]: value }),
      ]);
      for (const [name, run] of [
        [flag, byFlag],
        [variable, byVariable],
      ] as const) {
        assert.equal(run.code, 1);
        assert.equal(run.stdout, '');
        assert.ok(run.stderr.includes(name), run.stderr);
        assert.match(run.stderr, wanted);
        assert.equal(run.stderr.trim().split('\n').length, 1);
      }
    });
  }

  test('are taken from the flag rather than the variable', async () => {
    const env = { PRESENCE_LOG_LEVEL: 'loud', PRESENCE_PORT: '1' };
    await using gateway = await startGatewayProcess({ args: ['--log-level', 'info'], env });
    assert.notEqual(new URL(gateway.url).port, '1');
  });

  test('accept a language file', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'own.yaml');
    await using first = await startGatewayProcess();
    const own = await (await fetch(`${first.url}/mova-snu.yaml`)).text();
    await writeFile(file, own.replaceAll('Open Presence Gateway', 'A Place of Our Own'));
    await using gateway = await startGatewayProcess({ env: { PRESENCE_LANGUAGE: file } });
    const status = await fetch(`${gateway.url}/api`);
    assert.match(await status.text(), /A Place of Our Own/);
  });
});

const PACKAGED = join(import.meta.dirname, '../../../protocol/mova-snu.yaml');

test('SIGHUP reads the language file again, or refuses it, and streams go on', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'own.yaml');
  const packaged = await readFile(PACKAGED, 'utf8');
  const name = 'Open Presence Gateway';
  await writeFile(file, packaged);
  const args = ['--language', file, '--threads', '2'];
  await using gateway = await startGatewayProcess({ args });
  const pages = async (): Promise<string[]> =>
    await Promise.all(
      Array.from({ length: 8 }, async () => await (await fetch(`${gateway.url}/api`)).text()),
    );
  const reloaded = async (change: string, line: RegExp): Promise<void> => {
    await writeFile(file, change);
    process.kill(gateway.pid, 'SIGHUP');
    await until(
      async () => gateway.output(),
      (output) => line.test(output),
      (output) => `Not reloaded: ${output}`,
    );
  };
  for (const page of await pages()) assert.match(page, /Open Presence Gateway/);
  const stream = await fetch(`${gateway.url}/api/events`);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);

  const own = `contact: keeper@presence.example\n${packaged.replaceAll(name, 'Our Own Place')}`;
  await reloaded(own, /were read again/);
  for (const page of await pages()) assert.match(page, /Our Own Place/);
  const discovery = await (await fetch(`${gateway.url}/api/discover`)).text();
  assert.match(discovery, /keeper@presence\.example/);

  await reloaded('service: 1\n', /"level":50,.*own\.yaml.*must have required.*stays in force/);
  for (const page of await pages()) assert.match(page, /Our Own Place/);

  await fetch(`${gateway.url}/api/shepit`, { method: 'POST', body: '{"text":"after"}' });
  let received = '';
  while (!received.includes('"after"')) {
    const { value, done } = await reader.read();
    assert.ok(!done, received);
    received += value;
  }
  await reader.cancel();
});

test('SIGHUP during the start reads the files again after it', async () => {
  await using folder = await dataFolder();
  const starting = Promise.withResolvers<void>();
  await using origin = await serve((_, response) => {
    starting.resolve();
    setTimeout(
      () => response.end(`{"log":"${'a'.repeat(16)}","head":0,"link":"${'0'.repeat(64)}"}`),
      500,
    );
  });
  const args = ['serve', '--port', '0', '--data', folder.path, '--mirror', origin.url];
  const child = spawn(process.execPath, [MAIN, ...args]);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (words: string) => (output += words));
  try {
    await starting.promise;
    child.kill('SIGHUP');
    await until(
      async () => output,
      (words) => /"serving[^]*were read again/.test(words),
      (words) => `Not read again: ${words}`,
    );
  } finally {
    child.kill('SIGKILL');
  }
});

test('a public gateway without a contact says once what is missing', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'own.yaml');
  const yaml = join(import.meta.dirname, '../../../protocol/mova-snu.yaml');
  await writeFile(file, `contact: keeper@presence.example\n${await readFile(yaml, 'utf8')}`);
  const warned = async (args: readonly string[]): Promise<number> => {
    await using gateway = await startGatewayProcess({ args: [...args, '--threads', '2'] });
    await gateway.stop();
    return gateway.output().split('how to reach you').length - 1;
  };
  const address = ['--public-url', 'https://presence.example'];
  assert.equal(await warned(address), 1);
  assert.equal(await warned([...address, '--language', file]), 0);
  assert.equal(await warned([]), 0);
});

suite('a start that fails', () => {
  async function failure(args: readonly string[]): Promise<string> {
    const run = await presence(['serve', '--port', '0', ...args]);
    assert.equal(run.code, 1, run.stderr);
    assert.equal(run.stdout, '');
    assert.doesNotMatch(run.stderr, /^\s+at /m);
    return run.stderr;
  }

  test('names the place in the language file that is wrong', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'bad.yaml');
    const data = ['--data', join(folder.path, 'data'), '--language', file];
    assert.match(await failure(data), /^Cannot read language file .*ENOENT.*\n$/);
    await writeFile(file, 'service: 1\n');
    assert.match(await failure(data), /bad\.yaml":\n[^]*\/service: must be object/);
    await writeFile(file, Buffer.from([0xff, 0xfe]));
    assert.match(await failure(data), /^Cannot read language file .* UTF-8\n$/);
  });

  test('asks why the gateway is to be read-only', async () => {
    assert.match(await failure(['--read-only=']), /It must say why/);
  });

  test('reports that another gateway uses the folder or the port', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess();
    assert.match(await failure(['--data', gateway.data]), /^Another gateway .*\n$/);
    const { port } = new URL(gateway.url);
    const inUse = await failure(['--data', folder.path, '--port', port]);
    assert.match(inUse, /^Cannot listen on 127\.0\.0\.1:\d+: it is in use\..*--listen.*\n$/);
  });

  test('reports an address that the machine does not have, or a data folder that is a file', async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const nowhere = await failure(['--data', folder.path, '--host', '203.0.113.7']);
    assert.match(nowhere, /^Cannot listen on 203\.0\.113\.7:0: .*--listen.*\n$/);
    assert.match(await failure(['--data', file]), /^Cannot use the data folder .*--data.*\n$/);
  });
});

suite('a gateway that receives a signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`finishes and stores an upload in progress (${signal})`, async () => {
      await using folder = await dataFolder();
      const gateway = await startGatewayProcess({ data: folder.path });
      const { port, hostname: host } = new URL(gateway.url);
      const idle = connect({ host, port: Number(port) });
      const path = '/api/seeds';
      const upload = request({
        host,
        port,
        path,
        method: 'POST',
        headers: { Expect: '100-continue' },
      });
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      upload.once('response', (answer) => void json(answer).then(resolve, reject));
      upload.once('error', reject);
      upload.flushHeaders();
      await new Promise((resolve) => void upload.once('continue', resolve));
      upload.write(`{"text":"${'x'.repeat(200_000)}`);
      process.kill(gateway.pid, signal);
      // The end of the body follows only after the gateway has logged that it is stopping.
      while (!gateway.output().includes('resting')) {
        upload.write('x');
        await fetch(gateway.url).catch(() => {});
      }
      upload.end('"}');
      assert.equal(Reflect.get(Object(await promise), 'seq'), 1);
      assert.deepEqual(await gateway.ended, { code: 0, signal: null });
      idle.destroy();

      await using again = await startGatewayProcess({ data: folder.path });
      const listing = await fetch(`${again.url}${path}`);
      assert.equal(Reflect.get(Object(await listing.json()), 'head'), 1);
    });
  }

  test('ends at once at the second signal', async () => {
    await using gateway = await startGatewayProcess();
    const { port, hostname: host } = new URL(gateway.url);
    const socket = connect({ host, port: Number(port) });
    socket.on('error', () => {});
    socket.write(
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
    );
    await new Promise((resolve) => void socket.once('data', resolve));
    process.kill(gateway.pid, 'SIGTERM');
    while (!gateway.output().includes('resting')) await fetch(gateway.url).catch(() => {});
    process.kill(gateway.pid, 'SIGTERM');
    assert.deepEqual(await gateway.ended, { code: null, signal: 'SIGTERM' });
    socket.destroy();
  });

  test('ends at once if it waits for its origin during the start', async () => {
    await using folder = await dataFolder();
    const origin = createServer();
    const asked = once(origin, 'connection');
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const { port } = origin.address() as AddressInfo;
    const args = ['serve', '--data', folder.path, '--mirror', `http://127.0.0.1:${port}`];
    const gateway = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [socket] = (await asked) as [Socket];
    const ended = once(gateway, 'close');
    gateway.kill('SIGTERM');
    assert.match(await text(gateway.stdout), /resting: before the start was complete/);
    assert.deepEqual(await ended, [0, null]);
    socket.destroy();
    origin.close();
  });
});

test('reload changes the address and the words of all answers together, or nothing', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'own.yaml');
  await writeFile(file, `contact: keeper@presence.example\n${await readFile(PACKAGED, 'utf8')}`);
  const env = { PRESENCE_PUBLIC_URL: 'https://before.example' };
  await using gateway = await startGatewayProcess({ args: ['--threads', '2'], env });
  const { url, data } = gateway;
  const body = '{"text":"x"}';
  const { id } = (await (await fetch(`${url}/api/seeds`, { method: 'POST', body })).json()) as {
    id: string;
  };
  const answers = async (): Promise<string[]> => {
    const paths = ['/', `/entries/${id}`, '/feed.atom', '/openapi.json', '/llms.txt'];
    const more = ['/.well-known/agent-card.json', '/.well-known/ard.json'];
    const headers = { accept: 'text/html, */*;q=0.5' };
    // Often enough that both threads answer.
    const all = [...paths, ...more].flatMap((path) => Array.from({ length: 4 }, () => path));
    return await Promise.all(
      all.map(async (path) => `${path} ${await (await fetch(url + path, { headers })).text()}`),
    );
  };
  const reload = async (...args: readonly string[]): Promise<Run> =>
    await presence(['reload', '--data', data, ...args]);
  for (const answer of await answers()) assert.match(answer, /before\.example/);

  await writeFile(join(data, 'privacy.md'), '**Nothing** is kept.');
  const settings = ['--language', file, '--public-url', 'https://after.example'];
  assert.equal((await reload(...settings)).stdout, 'Reloaded.\n');
  for (const answer of await answers()) {
    assert.doesNotMatch(answer, /before\.example/);
    assert.match(answer, /after\.example/);
  }
  assert.match(await (await fetch(`${url}/privacy`)).text(), /<strong>Nothing<\/strong> is kept/);
  const security = await (await fetch(`${url}/.well-known/security.txt`)).text();
  assert.match(security, /keeper@presence\.example/);

  await writeFile(file, 'service: 1\n');
  const refused = await reload('--public-url', 'https://never.example');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /own\.yaml":\n[^]*\/service: must be object/);
  for (const answer of await answers()) assert.match(answer, /after\.example/);
  await gateway.stop();
  assert.match((await reload()).stderr, /no gateway runs on this folder/);
});
