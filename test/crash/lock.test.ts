// One folder, one gateway.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gateway } from '../../conformance/gateway.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger } from './ledger.ts';
import { presence } from '../command.ts';

test('a second gateway on a folder says that another has it, until that one is gone', async () => {
  await using folder = await dataFolder();
  const ledger = new Ledger();
  const speak = async (url: string): Promise<void> => {
    using visitor = new Gateway(url);
    (await ledger.submit(visitor, ledger.newSubmission('garden', 10, true))).expect(201);
    await assertSound(folder.path, await ledger.compare(visitor));
  };
  await using first = await startGatewayProcess({ data: folder.path });
  await speak(first.url);
  const { code, stderr } = await presence('serve', '--port', '0', '--data', folder.path);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `Another gateway is using the data folder "${folder.path}". Stop it first, or start this one with a folder of its own (--data).\n`,
  );
  await speak(first.url);
  await first.kill();
  await using second = await startGatewayProcess({ data: folder.path });
  await speak(second.url);
});
