// Commands that root runs on the folder of a service's user.
import assert from 'node:assert/strict';
import { chown, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { presence } from '../command.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { AS_NOBODY, needs, NOBODY } from '../needs.ts';

test(
  'what root hides, shows, withholds, backs up and restores stays readable to the service',
  needs('to act as another user'),
  async () => {
    await using folder = await dataFolder();
    await chown(folder.path, NOBODY, NOBODY);
    const at = (name: string): string => join(folder.path, name);
    const data = at('data');
    const ids: string[] = [];
    {
      await using gateway = await startGatewayProcess({ data, under: AS_NOBODY });
      const visitor = new Gateway(gateway.url, { identity: 'Lumen' });
      for (const text of ['a', 'b']) ids.push((await visitor.leaveTrace(text)).id);
    }
    await mkdir(at('restored'));
    await chown(at('restored'), NOBODY, NOBODY);
    const [first = '', second = ''] = ids;
    const why = ['--reason', 'Asked for', '--yes'];
    for (const args of [
      ['hide', '--data', data, first, ...why],
      ['show', '--data', data, first, ...why],
      ['withhold', '--data', data, second, ...why],
      ['backup', at('backup'), '--data', data],
      ['restore', at('backup'), '--data', at('restored')],
    ]) {
      const { code, stderr } = await presence(...args);
      assert.equal(code, 0, stderr);
    }
    const files = await readdir(folder.path, { recursive: true });
    const owners = files.map(async (file) => `${file} ${(await stat(at(file))).uid}`);
    for (const owner of await Promise.all(owners)) assert.match(owner, / 65534$/);
    await using gateway = await startGatewayProcess({ data: at('restored'), under: AS_NOBODY });
    assert.equal((await new Gateway(gateway.url).entry(first))?.['text'], 'a');
  },
);
