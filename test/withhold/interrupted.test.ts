// What `presence withhold` says when it, or the gateway, ends before the answer.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import { COMMAND } from '../command.ts';
import { dataFolder } from '../gateway-process.ts';

interface Interrupted extends AsyncDisposable {
  readonly child: ChildProcess;
  /** What it says at its end. */
  readonly said: Promise<string>;
  /** The answer to its first request to `path`, if it was not ended before. */
  readonly answer: ServerResponse;
}

/** Resolves once the command asks for `path`. Its gateway selects one entry, and never says that it is withheld. */
async function askingFor(path: string, ...selection: string[]): Promise<Interrupted> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await dataFolder());
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer(({ url }, response) => {
    if (url === '/withhold') response.writeHead(200);
    else response.end(`${JSON.stringify({ selected: 1, alreadyWithheld: 0, before: 2 })}\n`);
    if (url === path) asked.resolve(response);
  });
  stack.defer(() => void server.close());
  await once(server.listen(join(folder.path, 'control.sock')), 'listening');
  const options = ['--data', folder.path, ...selection, '--reason', 'spam', '--yes'];
  const child = spawn(process.execPath, [COMMAND, 'withhold', ...options]);
  stack.defer(() => void child.kill('SIGKILL'));
  const said = text(child.stderr);
  const answer = await asked.promise;
  const owned = stack.move();
  return { child, said, answer, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

suite('presence withhold', () => {
  test('says that it does not know whether it is done, when it is interrupted', async () => {
    await using interrupted = await askingFor('/withhold', '--room', 'memory-garden');
    interrupted.child.kill('SIGINT');
    assert.match(await interrupted.said, /it was interrupted: whether it is done is unknown/);
  });

  test('says that it does not know whether it is done, when the gateway ends', async () => {
    await using interrupted = await askingFor('/withhold', '--room', 'memory-garden');
    interrupted.answer.destroy();
    assert.match(await interrupted.said, /the gateway has ended: whether it is done is unknown/);
  });

  test('ends at the first signal while it waits for ids', { timeout: 60_000 }, async () => {
    await using interrupted = await askingFor('/', '--from', '-');
    interrupted.child.kill('SIGINT');
    assert.match(await interrupted.said, /^Cannot withhold/);
  });
});
