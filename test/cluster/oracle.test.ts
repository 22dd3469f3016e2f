// What is said at one gateway of a cluster, which is stopped and killed meanwhile, and read at another,
// agrees with the model of a gateway. ORACLE_SEED repeats a run, ORACLE_ROUNDS makes it longer.
import { randomInt } from 'node:crypto';
import { test } from 'node:test';

import { agree } from '../oracle/agreement.ts';
import { keepFilesInMemory } from '../gateway-process.ts';
import { becomes, startCluster } from './members.ts';
import { needs } from '../needs.ts';

keepFilesInMemory();

const seed = Number(process.env['ORACLE_SEED'] ?? randomInt(2 ** 32));
const rounds = Number(process.env['ORACLE_ROUNDS'] ?? 1);

test(
  `two gateways of a cluster agree with the model (ORACLE_SEED=${seed})`,
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(1);
    const reader = await cluster.start(1);
    await becomes(reader, 'breathing');
    const start = async () => {
      const gateway = await cluster.start(0);
      await becomes(gateway, 'breathing');
      return { gateway, reading: reader.url };
    };
    await agree(start, seed, rounds);
  },
);
