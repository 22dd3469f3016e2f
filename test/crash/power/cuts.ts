/** Cuts the power at random moments of a recording, and opens the log on what survives. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { openSqliteLog } from '../../../packages/gateway/src/store/store.ts';
import type { Kind } from '../../../conformance/entry.ts';
import { Gateway } from '../../../conformance/gateway.ts';
import { dataFolder, startGatewayProcess } from '../../gateway-process.ts';
import { SeededRandom } from '../../seeded-random.ts';
import { assertSound, type Ledger } from '../ledger.ts';
import type { Recording } from './recording.ts';
import { Replay } from './replay.ts';
import { writeSurvivors } from './simulated-disk.ts';

export interface CutOptions {
  readonly seed: number;
  readonly count: number;
  /** Flushes of these paths, relative to the root of the recording, do nothing. */
  readonly ignoresFlush?: (path: string) => boolean;
}

export interface Survivors extends AsyncDisposable {
  /** The data folder after the cut. */
  readonly data: string;
  /** What had been acknowledged before. */
  readonly ledger: Ledger;
  readonly acknowledged: ReadonlySet<string>;
  /** The cut, for messages. */
  readonly name: string;
}

/** Half of the cuts come right after an acknowledgement. */
export async function* cutPower(
  recording: Recording,
  { seed, count, ignoresFlush }: CutOptions,
): AsyncGenerator<Survivors> {
  const random = new SeededRandom(seed);
  const answers: number[] = [];
  let moments = 0;
  for (const { acknowledged } of replay(recording, ignoresFlush)) {
    if (acknowledged.size > answers.length) answers.push(moments);
    moments += 1;
  }
  const cuts = Array.from({ length: count }, () =>
    random.chance(0.5) ? random.pick(answers) : random.below(moments),
  ).toSorted((a, b) => b - a);
  let moment = 0;
  for (const { acknowledged, disk } of replay(recording, ignoresFlush)) {
    for (; cuts.at(-1) === moment; cuts.pop()) {
      const folder = await dataFolder();
      await writeSurvivors(disk, folder.path, random);
      const data = join(folder.path, 'data');
      await mkdir(data, { recursive: true });
      const name = `seed ${seed}, moment ${moment} of ${moments}, ${acknowledged.size} acknowledged`;
      const ids = new Set(acknowledged);
      const ledger = recording.ledger.asOf(ids);
      yield Object.assign(folder, { data, ledger, acknowledged: ids, name });
    }
    moment += 1;
  }
}

/** Throws where an acknowledged entry is lost, or an entry is there that nobody sent. */
export async function assertOpens(survivors: Survivors): Promise<void> {
  const { data, ledger, acknowledged } = survivors;
  let size: number;
  {
    await using log = await openSqliteLog({ folder: data });
    const entries: [Kind, Buffer][] = [];
    for await (const entry of log.readEntries({ facets: [], order: 'oldest' })) {
      const text = Buffer.concat(
        await Array.fromAsync(entry.chunks(), (chunk) => Buffer.from(chunk)),
      );
      entries.push([entry.metadata.kind, text]);
    }
    const found = ledger.compareEntries(entries);
    assert.deepEqual([...acknowledged.difference(found)], [], 'acknowledged entries are lost');
    ({ size } = found);
  }
  await assertSound(data, size);
}

/** The same, by a gateway, which goes on storing. */
export async function assertServes({ data, ledger }: Survivors): Promise<void> {
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  await ledger.compare(visitor);
  const keyed = ledger.acknowledged.filter(({ key }) => key !== undefined);
  for (const submission of [...keyed.slice(-20), ...ledger.unanswered.slice(0, 20)])
    (await ledger.submit(visitor, submission)).expect(201);
  await assertSound(data, await ledger.compare(visitor));
}

/** Yields after each call that matters. */
function* replay(
  { root, processes }: Recording,
  ignoresFlush?: (path: string) => boolean,
): Generator<Replay> {
  const replayed = new Replay(root, ignoresFlush);
  for (const calls of processes) {
    for (const call of calls) {
      const before = replayed.moment;
      replayed.apply(call);
      if (replayed.moment > before) yield replayed;
    }
    replayed.endProcess();
  }
}
