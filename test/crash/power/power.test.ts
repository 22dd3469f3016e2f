// The power fails under a gateway, on a disk without any order of its own. PRESENCE_POWER_CUTS makes
// it more often, PRESENCE_SEED repeats the choices of an earlier run.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { assertOpens, assertServes, type CutOptions, cutPower } from './cuts.ts';
import { record, type Recording } from './recording.ts';
import { needs } from '../../needs.ts';

const CUTS = Number(process.env['PRESENCE_POWER_CUTS'] ?? 20);
const CUTS_OF_ONE_RECORDING = 100;
/** One survivor in this many is served by a gateway of its own; all are opened. */
const OPENED_PER_SERVED = 20;
const SEED = Number(process.env['PRESENCE_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

for (let from = 0; from < CUTS; from += CUTS_OF_ONE_RECORDING) {
  const count = Math.min(CUTS_OF_ONE_RECORDING, CUTS - from);
  test(
    `what was acknowledged outlives power cuts ${from + 1} to ${from + count}`,
    needs('strace'),
    async (t) => {
      const seed = SEED + from;
      t.diagnostic(`seed ${seed}`);
      const recording = await record(seed);
      let opened = 0;
      for await (const survivors of cutPower(recording, { seed, count })) {
        opened += 1;
        try {
          await assertOpens(survivors);
          if (opened % OPENED_PER_SERVED === 0) await assertServes(survivors);
        } catch (error) {
          throw new Error(`${survivors.name}: see ${survivors.data}`, { cause: error });
        }
        await survivors[Symbol.asyncDispose]();
      }
      assert.equal(opened, count);
      // Without flushes, entries must be lost: otherwise the cuts would prove nothing.
      if (from > 0) return;
      const ignoresFlush = (path: string): boolean => /^data\/large(?:\/..)?$/.test(path);
      t.diagnostic(await lossOf(recording, { seed, count: 10, ignoresFlush }));
    },
  );
}

test(
  'power cuts take acknowledged entries from a log that is not flushed',
  needs('strace'),
  async (t) => {
    const preload = pathToFileURL(join(import.meta.dirname, 'synchronous-off.ts'));
    const recording = await record(SEED, { NODE_OPTIONS: `--import=${preload.href}` });
    t.diagnostic(await lossOf(recording, { seed: SEED, count: 10 }));
  },
);

/** What one of the cuts has taken. Fails if all has survived them. */
async function lossOf(recording: Recording, options: CutOptions): Promise<string> {
  for await (const survivors of cutPower(recording, options)) {
    await using _ = survivors;
    try {
      await assertOpens(survivors);
    } catch (error) {
      return `${survivors.name}: ${String(error)}`;
    }
  }
  assert.fail('nothing is lost, although it was not flushed');
}
