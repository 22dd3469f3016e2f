// A simulated cluster keeps what it promises whatever happens around the stream, and what a broken
// gateway does is found. PRESENCE_SEED repeats a run.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { keepFilesInMemory } from '../../gateway-process.ts';
import { FAULTS } from './faults.ts';
import { simulate } from './simulation.ts';

keepFilesInMemory();

const SEED = Number(process.env['PRESENCE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const SEEDS = 100;
const MAX_SEEDS_TO_FIND = 1000;

describe(`a simulated cluster (PRESENCE_SEED=${SEED})`, () => {
  it('has every acknowledged entry once on every copy, with the same links', async () => {
    for (let at = 0; at < SEEDS; at += 1)
      await simulate(SEED + at).catch((error: unknown) => {
        throw new Error(`It fails with PRESENCE_SEED=${SEED + at}`, { cause: error });
      });
  });

  for (const fault of FAULTS)
    it(`shows it where a gateway ${fault}`, async () => {
      let isFound = false;
      for (let at = 0; at < MAX_SEEDS_TO_FIND && !isFound; at += 1)
        isFound = await simulate(SEED + at, fault).then(
          () => false,
          (error: unknown) => error instanceof assert.AssertionError,
        );
      assert.ok(isFound);
    });
});
