import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';

import { until } from '../../../../conformance/until.ts';
import { dataFolder, freePort, startGatewayProcess } from '../../../../test/gateway-process.ts';
import { ServiceOutput } from './service-output.ts';

const COMMAND = join(import.meta.dirname, '../../presence.js');
/** Their lines have more bytes than a pipe holds. */
const REQUESTS = 1500;

async function mkfifo(path: string): Promise<string> {
  await promisify(execFile)('mkfifo', [path]);
  return path;
}

/** Resolves with an empty text if there is nothing to read now. */
async function readSome(reader: FileHandle): Promise<string> {
  const none = { bytesRead: 0, buffer: Buffer.alloc(0) };
  const { bytesRead, buffer } = await reader.read({ length: 16_384 }).catch(() => none);
  return buffer.toString('utf8', 0, bytesRead);
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs a gateway with two threads that logs requests. `redirect`: where the shell sends its output. */
async function serveTo(redirect: string, use: (url: string) => Promise<void>): Promise<void> {
  await using folder = await dataFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = ['--port', String(port), '--data', folder.path, '--threads', '2'];
  // A port of its own: another process may use the default port of debuggers.
  const debuggerPort = await freePort();
  const node = [process.execPath, `--inspect-port=${debuggerPort}`];
  const command = [...node, COMMAND, 'serve', ...options, '--log-requests'];
  const child = spawn('sh', ['-c', `exec "$@" ${redirect}`, 'sh', ...command], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    await until(
      () => answers(url),
      (isServing) => isServing,
      () => 'It never serves.',
    );
    await use(url);
    for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGUSR1'] as const) child.kill(signal);
    const body = JSON.stringify({ text: 'still open' });
    assert.equal((await fetch(`${url}/api/seeds`, { method: 'POST', body })).status, 201);
    await assert.rejects(fetch(`http://127.0.0.1:${debuggerPort}/json`));
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function visit(url: string): Promise<void> {
  for (let count = 0; count < REQUESTS; count += 1)
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
}

suite('a gateway serves, stays after SIGHUP, SIGUSR1 and SIGUSR2, and ends by SIGTERM', () => {
  for (const redirect of ['>/dev/full', '>/dev/full 2>&1', '>&- 2>&-'])
    test(`with its output ${redirect}`, () => serveTo(redirect, visit));

  test('with a reader that does not read, and then ends', async () => {
    await using folder = await dataFolder();
    const path = await mkfifo(join(folder.path, 'fifo'));
    const reader = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
    await serveTo(`>${path} 2>&1`, async (url) => {
      await visit(url);
      await reader.close();
      await visit(url);
    });
  });

  test('with a FIFO for its requests that has no reader, and gives whole lines to a later one', async () => {
    await using folder = await dataFolder();
    const path = await mkfifo(join(folder.path, 'fifo'));
    await using gateway = await startGatewayProcess({ args: ['--log-requests', path] });
    await visit(gateway.url);
    assert.match(gateway.output(), /the log of requests cannot be written; trying again/);
    await using reader = await open(path, 'r');
    const { buffer, bytesRead } = await reader.read({ length: 16_384 });
    const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
    assert.equal(Reflect.get(Object(JSON.parse(first)), 'msg'), 'request');
    assert.deepEqual(await gateway.stop(), { code: 0, signal: null });
  });
});

test('SIGHUP opens a log file again if it was given by its name', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'requests.log');
  await using gateway = await startGatewayProcess({
    args: ['--log-requests', file, '--threads', '2'],
  });
  const has = async (path: string, route: string): Promise<void> => {
    await until(
      async () => {
        await fetch(gateway.url + route);
        return await readFile(path, 'utf8').catch(() => '');
      },
      (text) => text.includes(`"path":"${route}"`),
      () => `${path} never has a line.`,
    );
  };
  await has(file, '/healthz');
  await rename(file, `${file}.1`);
  process.kill(gateway.pid, 'SIGHUP');
  await has(file, '/readyz');
  assert.doesNotMatch(gateway.output(), /"path"/);
});

test('lines that a reader does not take are dropped and counted once, and the others are whole', async () => {
  await using folder = await dataFolder();
  const path = await mkfifo(join(folder.path, 'fifo'));
  await using reader = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new ServiceOutput({ target: path, describeDropped: (count) => `lost ${count}\n` });
  const lines = Array.from({ length: 3000 }, (_, number) => `${number} ${'x'.repeat(1000)}`);
  for (const line of lines) output.write(`${line}\n`);
  let read = '';
  await until(
    async () => {
      read += await readSome(reader);
    },
    () => /^lost \d+$/m.test(read),
    () => 'Nothing is said of what was dropped.',
  );
  const arrived = read.trimEnd().split('\n');
  const last = arrived.pop();
  assert.deepEqual(arrived, lines.slice(0, arrived.length));
  assert.equal(last, `lost ${lines.length - arrived.length}`);
  await output.close();
});

test('a single dropped line is reported, and the next ones arrive', async () => {
  await using folder = await dataFolder();
  const path = join(folder.path, 'log');
  const output = new ServiceOutput({ target: path, describeDropped: (count) => `lost ${count}\n` });
  output.write(`${'x'.repeat(2 * 1024 * 1024)}\n`);
  const text = (): Promise<string> => readFile(path, 'utf8').catch(() => '');
  await until(
    text,
    (found) => found === 'lost 1\n',
    (found) => `It has: ${found}`,
  );
  output.write('next\n');
  await output.close();
  assert.equal(await text(), 'lost 1\nnext\n');
});

test('the next reader of a FIFO gets the line that was being written, and all later ones', async () => {
  await using folder = await dataFolder();
  const path = await mkfifo(join(folder.path, 'fifo'));
  const first = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { promise: failing, resolve: onFailing } = Promise.withResolvers<Error>();
  const describeDropped = (count: number): string => `lost ${count}\n`;
  const output = new ServiceOutput({ target: path, describeDropped, onFailing });
  // More than a pipe holds.
  const line = `${'x'.repeat(512 * 1024)}\n`;
  output.write(line);
  let read = '';
  const readUntil = (reader: FileHandle, isMet: () => boolean): Promise<void> =>
    until(
      async () => {
        read += await readSome(reader);
      },
      isMet,
      () => `It has: ${read.slice(-200)}`,
    );
  await readUntil(first, () => read !== '');
  await first.close();
  await failing;
  output.write('next\n');
  await using second = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  await readUntil(second, () => read.endsWith('next\n'));
  assert.ok(read === `${line}next\n`);
  await output.close();
});
