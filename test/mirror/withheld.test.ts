// What is withheld at its origin is withheld in a copy, whether it was copied before or after.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway, type ListingFilters } from '@open-presence/client';
import { openLogCopy } from '@open-presence/gateway';

import { until } from '../../conformance/until.ts';
import { followOrigin } from '../../packages/cli/src/log/follow-origin.ts';
import { filesWith } from '../files-with.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { presence, run, withhold } from '../command.ts';

const SECRET = 'Quixotry4711';

async function copyInto(data: string, gateway: Gateway): Promise<void> {
  const { log: name } = await gateway.checkpoint();
  await using copy = await openLogCopy({ data, name, language: undefined });
  const { signal } = new AbortController();
  const ignored = (): void => {};
  const handlers = { onProgress: ignored, onTrouble: ignored, onChanged: ignored };
  await followOrigin({ gateway, copy, signal, live: false, ...handlers });
  assert.deepEqual(copy.checkpoint(), await gateway.checkpoint());
}

/** Without their numbers, which are each gateway's own. */
async function casesOf(gateway: Gateway): Promise<object[]> {
  const cases = await Array.fromAsync(gateway.withholdings(), (withholding) => ({
    ...withholding,
    number: undefined,
  }));
  return cases.toSorted((a, b) => a.seq - b.seq);
}

test('a copy keeps nothing of what its origin hides, and has it again when that shows it', async () => {
  await using folder = await dataFolder();
  await using origin = await startGatewayProcess();
  const gateway = new Gateway(origin.url, { identity: SECRET });
  const small = await gateway.leaveTrace({ text: `${SECRET} one`, note: '\u0000' });
  const large = await gateway.leaveTrace(`${SECRET} `.repeat(20_000));
  await gateway.leaveTrace('stays');
  const [early, late] = ['early', 'late'].map((name) => join(folder.path, name));
  assert.ok(early !== undefined && late !== undefined);
  await copyInto(early, gateway);
  const yes = ['--reason', 'Looked into', '--yes'];
  const hidden = await run('hide', origin.data, small.id, large.id, ...yes);
  assert.equal(hidden.code, 0, hidden.stderr);
  for (const data of [early, late]) {
    await copyInto(data, gateway);
    const left = `${SECRET} `.repeat(2);
    assert.deepEqual(await filesWith(data, `${SECRET} one`), []);
    assert.deepEqual(await filesWith(data, left), []);
  }
  const shown = await run('show', origin.data, small.id, large.id, ...yes);
  assert.equal(shown.code, 0, shown.stderr);
  for (const data of [early, late]) {
    await copyInto(data, gateway);
    await using served = await startGatewayProcess({ data });
    const copied = new Gateway(served.url);
    const lines = async (from: Gateway): Promise<unknown> =>
      await Array.fromAsync(from.entries({ order: 'oldest' }));
    assert.deepEqual(await lines(copied), await lines(gateway));
    const seqs = await Array.fromAsync(copied.entries({ identity: SECRET }), ({ seq }) => seq);
    assert.deepEqual(seqs, [3, 2, 1]);
    const found = await Array.fromAsync(copied.entries({ q: 'one' }), ({ seq }) => seq);
    assert.deepEqual(found, [1]);
  }
});

test('a copy follows what its origin withholds, and verifies', async () => {
  await using folder = await dataFolder();
  await using origin = await startGatewayProcess();
  const gateway = new Gateway(origin.url, { identity: SECRET });
  const root = await gateway.leaveTrace(`${SECRET} one`);
  const other = new Gateway(origin.url, { identity: 'B' });
  const answer = await other.reply(root, 'stays');
  // Withheld in the middle of the conversation, and answered.
  const middle = await gateway.reply(answer, `${SECRET} `.repeat(20_000));
  const last = await other.reply(middle, 'stays too');
  const [early, late] = ['early', 'late'].map((name) => join(folder.path, name));
  assert.ok(early !== undefined && late !== undefined);
  await copyInto(early, gateway);
  assert.notDeepEqual(await filesWith(early, SECRET), []);
  const done = await withhold(origin.data, '--identity', SECRET, '--reason', 'Spam', '--yes');
  assert.equal(done.code, 0, done.stderr);
  for (const data of [early, late]) {
    await copyInto(data, gateway);
    assert.deepEqual(await filesWith(data, SECRET), []);
    await using served = await startGatewayProcess({ data });
    const copied = new Gateway(served.url);
    const entries = await Array.fromAsync(copied.entries({ order: 'oldest' }));
    assert.deepEqual(entries, await Array.fromAsync(gateway.entries({ order: 'oldest' })));
    assert.deepEqual(await casesOf(copied), await casesOf(gateway));
    assert.equal((await casesOf(copied)).length, 2);
    const seqsOf = async (filters: ListingFilters): Promise<number[]> =>
      await Array.fromAsync(copied.entries(filters), ({ seq }) => seq);
    assert.deepEqual(await seqsOf({ thread: last.id, order: 'oldest' }), [answer.seq, last.seq]);
    // Nobody learns by it whom a withheld entry was by.
    assert.deepEqual(await seqsOf({ concerns: SECRET }), []);
  }
});

test('a mirror follows what its origin withholds after that was restored under its name', async () => {
  await using folder = await dataFolder();
  const [data, backup] = ['data', 'backup'].map((name) => join(folder.path, name));
  assert.ok(data !== undefined && backup !== undefined);
  const options = { data, args: ['--port', String(await freePort())] };
  const origin = await startGatewayProcess(options);
  const gateway = new Gateway(origin.url, { identity: SECRET });
  const ids: string[] = [];
  for (const text of ['one', 'two']) ids.push((await gateway.leaveTrace(text)).id);
  const owned = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await presence(...args, '--data', data);
    assert.equal(code, 0, stderr);
  };
  await owned('backup', backup);
  await using mirror = await startGatewayProcess({ args: ['--mirror', origin.url] });
  const copied = new Gateway(mirror.url);
  const withholdIn = async (id = ''): Promise<void> => {
    await owned('withhold', id, '--reason', 'spam', '--yes');
    await until(
      async () => JSON.stringify(await copied.entry(id)),
      (entry) => entry.includes('"withheld"'),
    );
  };
  await withholdIn(ids[0]);
  await origin.stop();
  await owned('restore', backup, '--replace', '--keep-name');
  await using _ = await startGatewayProcess(options);
  await withholdIn(ids[1]);
});
