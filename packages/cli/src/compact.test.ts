import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { presence, run } from '../../../test/command.ts';
import { dataFolder, startGatewayProcess } from '../../../test/gateway-process.ts';

const TEXTS = 40;
/** Bytes: each is in the log itself. */
const SIZE = 50_000;

test('presence compact gives back the room of withheld texts, and changes no entry', async () => {
  await using folder = await dataFolder();
  const data = folder.path;
  const args = ['compact', '--data', data];
  const log = join(data, 'log.sqlite');
  let kept: string;
  {
    await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
    const visitor = new Gateway(gateway.url, { identity: 'A' });
    for (let count = 0; count < TEXTS; count += 1)
      await visitor.leaveTrace(`regrettable ${'x'.repeat(SIZE)}`);
    await visitor.leaveTrace('stays');
    const withheld = await run('withhold', data, '-q', 'regrettable', '--reason', 'spam', '--yes');
    assert.equal(withheld.code, 0, withheld.stderr);
    kept = await (await fetch(`${gateway.url}/api/garden?withheld=include`)).text();
    const refused = await presence(...args);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /a gateway is using .* Stop it first/);
    await gateway.stop();
  }
  const before = (await stat(log)).size;
  const { code, stdout, stderr } = await presence(...args);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^[\d,]+ bytes\. Given back: [\d,]+\.\n$/);
  assert.ok(before - (await stat(log)).size > TEXTS * SIZE * 0.9);
  assert.equal((await presence('verify', '--data', data)).code, 0);
  await using gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
  assert.equal(await (await fetch(`${gateway.url}/api/garden?withheld=include`)).text(), kept);
  assert.match(await (await fetch(`${gateway.url}/api/search?q=stays`)).text(), /"stays"/);
});
