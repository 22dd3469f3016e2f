// `presence verify` of a gateway's log and of an export, against a kept checkpoint.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { COMMAND, presence } from '../command.ts';
import { serve } from '../web-site.ts';

/** Of the system's core utilities. */
const MKFIFO = 'mkfifo';

async function verify(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await presence('verify', ...args);
  return { code, output: stdout + stderr };
}

test('a log is verified from its gateway or a file, and compared with what was kept', async () => {
  await using folder = await dataFolder();
  await using served = await startGatewayProcess();
  const gateway = new Gateway(served.url);
  const kept = join(folder.path, 'checkpoint.json');
  const exported = join(folder.path, 'log.ndjson');
  for (const text of ['one', 'two', 'three']) await gateway.whisper(text);
  const first = await verify(served.url, '--checkpoint', kept);
  const { link } = await gateway.checkpoint();
  assert.deepEqual(first, { code: 0, output: `3 entries, unbroken. Last link ${link}\n` });
  await gateway.whisper('four');
  const log = await (await fetch(`${served.url}/api/log`)).text();
  await writeFile(exported, log);
  assert.equal((await verify(exported)).code, 0);
  const part = await verify(exported, '--new', '--checkpoint', kept);
  assert.equal(part.code, 1);
  assert.match(part.output, /^--new is for the log of a gateway elsewhere/);
  const later = await verify(served.url, '--new', '--checkpoint', kept);
  assert.match(later.output, /^1 entry, unbroken/);
  await writeFile(exported, log.replace('two', 'tWo'));
  const changed = await verify(exported);
  assert.equal(changed.code, 1);
  assert.match(changed.output, /^Entry 2 is not what its link was made of/);
  await writeFile(kept, (await readFile(kept, 'utf8')).replace(/"link":"..../, '"link":"0000'));
  const other = await verify(served.url, '--checkpoint', kept);
  assert.equal(other.code, 1);
  assert.match(other.output, /^Entry 4 has another link than the kept checkpoint/);
});

test('what was interrupted does not say that all is well', async () => {
  await using folder = await dataFolder();
  const requests = new EventEmitter();
  await using gateway = await serve(() => requests.emit('request'));
  const interrupted = async (
    args: readonly string[],
    begun: Promise<unknown>,
  ): Promise<unknown> => {
    const child = spawn(process.execPath, [COMMAND, ...args], { stdio: 'ignore' });
    await begun;
    child.kill();
    return await once(child, 'exit');
  };
  const asked = (): Promise<unknown> => once(requests, 'request');
  assert.deepEqual(await interrupted(['verify', gateway.url], asked()), [1, null]);
  const copy = ['mirror', gateway.url, '--once', '--data', join(folder.path, 'copy')];
  assert.deepEqual(await interrupted(copy, asked()), [1, null]);
  const pipe = join(folder.path, 'pipe');
  execFileSync(MKFIFO, [pipe]);
  // Opened once the command has opened it.
  const opened = open(pipe, 'w');
  assert.deepEqual(await interrupted(['verify', pipe], opened), [null, 'SIGTERM']);
  await (await opened).close();
});
