// Notices: received, kept, read by their owner, and answered.
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { backUp, restore } from '../backup/backup-folder.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { give } from './notices.ts';
import { presence } from '../command.ts';

const WHY = 'It has my address, which nobody may know.';

async function stateOf(url: string, number: string): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/notice/${number}`);
  return (await answer.json()) as Record<string, string>;
}

test('is received as JSON and as a form, listed, shown and closed, and tells its state alone', async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
  const { url, data } = gateway;
  const first = await give(url, { what: 'an entry', why: WHY, contact: 'me@example.org' });
  const form = new FormData();
  for (const [name, value] of Object.entries({ what: 'two', why: 'A form' })) form.set(name, value);
  const answer = await fetch(`${url}/api/notice?what=x`, { method: 'POST', body: form });
  assert.equal(answer.status, 201);
  assert.match(await answer.clone().text(), /"notes":\["\\"what\\" had no effect/);
  const second = (await answer.json()) as Record<string, string>;
  assert.equal(answer.headers.get('location'), `/api/notice/${second['number']}`);
  const { mode } = await stat(join(data, 'notices', `${first}.json`));
  assert.equal(mode & 0o777, 0o600);

  const list = await presence('notices', '--data', data);
  assert.match(list.stdout, new RegExp(`${first}  .*  open\n  what: an entry\n  why: ${WHY}`));
  assert.match(list.stdout, /A form/);
  const shown = await presence('notices', 'show', first, '--data', data);
  assert.match(shown.stdout, /"contact":"me@example\.org"/);
  for (const unclear of [
    ['close', first],
    ['list', first],
    ['show'],
    ['show', first, '--reason', 'It stays'],
    ['erase', first, '--reason', 'It goes'],
  ])
    assert.equal(
      (await presence('notices', ...unclear, '--data', data)).code,
      1,
      unclear.join(' '),
    );
  await presence('notices', 'close', first, '--reason', 'It stays', '--data', data);
  const { received, closed, ...rest } = await stateOf(url, first);
  assert.deepEqual(rest, { number: first, state: 'closed', reason: 'It stays' });
  assert.ok(Date.parse(closed ?? '') >= Date.parse(received ?? ''));
  assert.equal((await stateOf(url, second['number'] ?? ''))['state'], 'open');
  const unknown = await fetch(`${url}/api/notice/20261127T094512Z-0f3c5a9e1b7d2f4a6c8e`);
  assert.equal(unknown.status, 404);
  assert.match(await unknown.text(), /another of them may have received it/);
  assert.equal((await fetch(`${url}/api/notice/..%2F..%2Flog`)).status, 404);
});

test('says how to repair what cannot be received', async () => {
  await using gateway = await startGatewayProcess();
  for (const [body, status, error] of [
    [
      '{"what":" "}',
      422,
      /\\"what\\" must be a text that names.*\\"why\\" must be a text that says why/,
    ],
    ['[]', 422, /\\"what\\" must/],
    ['{"what":"x","why":"y"', 400, /malformed-json/],
    ['', 400, /malformed-json/],
  ] as const) {
    const answer = await fetch(`${gateway.url}/api/notice`, { method: 'POST', body });
    assert.equal(answer.status, status, body);
    assert.match(await answer.text(), error);
  }
  const headers = { 'content-type': 'multipart/form-data' };
  const form = await fetch(`${gateway.url}/api/notice`, { method: 'POST', headers, body: '--x' });
  assert.match(await form.text(), /Cannot store the notice: .*boundary/);
  assert.equal((await presence('notices', '--data', gateway.data)).stdout, '');
});

test('is received while nothing else is stored', async () => {
  await using gateway = await startGatewayProcess({ args: ['--read-only', 'A flood'] });
  const number = await give(gateway.url, { what: 'the flood', why: WHY });
  assert.equal((await stateOf(gateway.url, number))['state'], 'open');
});

test('is kept when the gateway is killed after the answer', async () => {
  await using folder = await dataFolder();
  await using gateway = await startGatewayProcess({ data: folder.path });
  const number = await give(gateway.url, { what: 'x', why: WHY });
  await gateway.kill();
  // Without a gateway, and beside the next one.
  assert.match((await presence('notices', '--data', folder.path)).stdout, new RegExp(number));
  await using again = await startGatewayProcess({ data: folder.path });
  assert.equal((await stateOf(again.url, number))['state'], 'open');
  const shown = await presence('notices', 'show', number, '--data', folder.path);
  assert.match(shown.stdout, new RegExp(WHY));
});

test('has any length, in flat memory', async () => {
  await using gateway = await startGatewayProcess();
  const { url, data, pid } = gateway;
  await give(url, { what: 'x', why: 'to warm up' });
  const number = await give(url, { what: 'x', why: 'word '.repeat(10_485_760) });
  const before = await memoryOf(pid);
  await give(url, { what: 'x', why: 'word '.repeat(62_914_560) });
  const grown = (await memoryOf(pid)) - before;
  assert.ok(grown < 64 * 1024 * 1024, `it has grown by ${grown} bytes`);
  const { size } = await stat(join(data, 'notices', `${number}.json`));
  assert.ok(size > 50 * 1024 * 1024);
  assert.match((await presence('notices', '--data', data)).stdout, /why: word word/);
});

/** The most that the process has had, in bytes. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

test('leads to a withholding, which closes it with its reason', async () => {
  await using gateway = await startGatewayProcess();
  const { url, data } = gateway;
  const { id } = await new Gateway(url).whisper('harmful');
  const number = await give(url, { what: `see ${url}/entries/${id}, please`, why: WHY });
  const order = ['withhold', '--notice', number, '--reason', 'A private address', '--yes'];
  const { stdout, stderr } = await presence(...order, '--data', data);
  assert.match(stdout, /1 entry withheld/, stderr);
  const { state, reason } = await stateOf(url, number);
  assert.deepEqual([state, reason], ['closed', 'A private address']);
  const vague = await give(url, { what: 'that thing', why: WHY });
  const refused = await presence(
    ...order.map((part) => (part === number ? vague : part)),
    '--data',
    data,
  );
  assert.match(refused.stderr, /names no entry/);
  assert.equal((await stateOf(url, vague))['state'], 'open');
});

test('is in a backup until it is erased, and is restored', async () => {
  await using folder = await dataFolder();
  await using backup = await dataFolder();
  await using restored = await dataFolder();
  await using gateway = await startGatewayProcess({ data: folder.path });
  const { url } = gateway;
  await new Gateway(url).whisper('x');
  const kept = await give(url, { what: 'kept', why: WHY });
  const erased = await give(url, { what: 'erased', why: WHY });
  await backUp(folder.path, backup.path);
  const textIn = (path: string, number: string): Promise<string> =>
    readFile(join(path, 'notices', `${number}.json`), 'utf8');
  assert.match(await textIn(backup.path, erased), /nobody may know/);
  await presence('notices', 'erase', erased, '--data', folder.path);
  assert.equal((await stateOf(url, erased))['state'], 'closed');
  await assert.rejects(textIn(folder.path, erased), /ENOENT/);
  await backUp(folder.path, backup.path);
  await assert.rejects(textIn(backup.path, erased), /ENOENT/);
  await restore(backup.path, restored.path);
  assert.match(await textIn(restored.path, kept), /nobody may know/);
  assert.match((await presence('notices', '--data', restored.path)).stdout, /It was erased/);
});
