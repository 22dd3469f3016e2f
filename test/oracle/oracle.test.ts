// A gateway agrees with a model of it. ORACLE_SEED repeats a run, ORACLE_ROUNDS makes it longer.
import { randomInt } from 'node:crypto';
import { test } from 'node:test';

import { dataFolder, keepFilesInMemory, startGatewayProcess } from '../gateway-process.ts';
import { agree } from './agreement.ts';

keepFilesInMemory();

const seed = Number(process.env['ORACLE_SEED'] ?? randomInt(2 ** 32));
const rounds = Number(process.env['ORACLE_ROUNDS'] ?? 2);

test(`a gateway agrees with the model (ORACLE_SEED=${seed})`, async () => {
  await using folder = await dataFolder();
  const start = async () => ({ gateway: await startGatewayProcess({ data: folder.path }) });
  await agree(start, seed, rounds);
});
