import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Log } from '../../packages/gateway/src/log/log.ts';
import { openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { keepFilesInMemory } from '../gateway-process.ts';
import { lastingContractOf } from './log.contract.ts';

keepFilesInMemory();

lastingContractOf('the SQLite store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  let log: Log = await openSqliteLog({ folder });
  return {
    log,
    reopen: async () => {
      await log[Symbol.asyncDispose]();
      log = await openSqliteLog({ folder });
      return log;
    },
    [Symbol.asyncDispose]: async () => {
      await log[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
