// What was withheld, hidden and shown after a backup is so again where that is restored.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { filesWith } from '../files-with.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { run } from '../command.ts';
import { backUp, presence } from './backup-folder.ts';

const WORD = 'quixotry';
const YES = ['--reason', 'Asked for', '--yes'];

test('a restore repeats what was withheld since the backup, or says how much is missing', async () => {
  await using folders = await dataFolder();
  const folder = (name: string): string => join(folders.path, name);
  await using gateway = await startGatewayProcess({ data: folder('data') });
  const { url, data } = gateway;
  const visitor = new Gateway(url, { identity: 'A' });
  const ids: string[] = [];
  for (let number = 0; number < 4; number += 1)
    ids.push((await visitor.leaveTrace(`${WORD} ${number}.`)).id);
  const [gone = '', hidden = '', shown = ''] = ids;
  assert.equal((await run('hide', data, shown, ...YES)).code, 0);
  await backUp(data, folder('backup'));
  const later = await visitor.leaveTrace(`${WORD} later`);
  assert.equal((await run('withhold', data, gone, later.id, ...YES)).code, 0);
  assert.equal((await run('hide', data, hidden, ...YES)).code, 0);
  assert.equal((await run('show', data, shown, ...YES)).code, 0);

  const restore = async (name: string, ...args: readonly string[]): Promise<string> => {
    const command = ['restore', folder('backup'), '--data', folder(name), ...args];
    const { code, stdout, stderr } = await presence(command);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const textsOf = async (name: string): Promise<string> => {
    await using served = await startGatewayProcess({ data: folder(name) });
    const texts = await (
      await fetch(`${served.url}/api/garden?order=oldest&withheld=include`)
    ).text();
    return [...texts.matchAll(/quixotry \d|"withheld":/g)].join();
  };
  const wanted = '"withheld":,"withheld":,quixotry 2,quixotry 3';

  assert.match(await restore('plain'), /It is unknown what was withheld since the backup/);
  assert.equal(await textsOf('plain'), 'quixotry 0,quixotry 1,"withheld":,quixotry 3');
  const fromGateway = await restore('from-gateway', '--withheld', url);
  assert.match(fromGateway, /since: 4 cases. 1 are of entries that the backup lacks/);
  assert.equal(await textsOf('from-gateway'), wanted);
  assert.deepEqual(await filesWith(folder('from-gateway'), `${WORD} 0.`), []);
  assert.equal((await run('show', folder('from-gateway'), hidden, ...YES)).code, 0);
  assert.match(await textsOf('from-gateway'), /quixotry 1/);

  for (const accept of ['application/json', 'application/x-ndjson']) {
    const answer = await fetch(`${url}/api/withheld`, { headers: { accept } });
    await writeFile(folder('cases'), await answer.text());
    const name = `from-${accept.slice(12)}`;
    assert.match(await restore(name, '--withheld', folder('cases')), /since: 4 cases/);
    assert.equal(await textsOf(name), wanted);
  }
  await gateway.stop();
  assert.match(await restore('data', '--replace'), /3 entries that the log before had withheld/);
  assert.match(await restore('from-folder', '--withheld', folder('from-json')), /since: \d cases/);
  assert.equal(await textsOf('from-folder'), wanted);
});

test('a restore changes nothing where it cannot read all that was withheld since', async () => {
  await using folders = await dataFolder();
  const folder = (name: string): string => join(folders.path, name);
  await using gateway = await startGatewayProcess({ data: folder('data') });
  const { url, data } = gateway;
  const visitor = new Gateway(url, { identity: 'A' });
  for (let number = 0; number < 2; number += 1) {
    const { id } = await visitor.leaveTrace(`${WORD} ${number}.`);
    assert.equal((await run('withhold', data, id, ...YES)).code, 0);
  }
  await backUp(data, folder('backup'));
  const page = await fetch(`${url}/api/withheld?limit=1`);
  await writeFile(folder('page'), await page.text());
  await writeFile(folder('other'), 'no cases\n');

  const reasons: Readonly<Record<string, RegExp>> = {
    page: /has the newest cases of \/api\/withheld alone/,
    other: /no case of \/api\/withheld: "no cases"/,
    missing: /ENOENT/,
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const target = folder(`from-${name}`);
    const to = ['--data', target, '--withheld', folder(name)];
    const { code, stderr } = await presence(['restore', folder('backup'), ...to]);
    assert.equal(code, 2);
    assert.match(stderr, reason);
    assert.deepEqual(await readdir(target).catch(() => []), []);
  }
});
