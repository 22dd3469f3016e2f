/**
 * Fills a data folder: `node seed.ts FOLDER COUNT [garden=2,seeds=1,shepit=1] [many]`. In a process
 * of its own, so that nothing of it is left in memory when the measuring begins. The kinds of a mix
 * come shuffled, in exactly these shares of every few entries; `many` speaks several languages.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { facet } from '../packages/gateway/src/log/facet.ts';
import type { Draft, Log } from '../packages/gateway/src/log/log.ts';
import { openSqliteLog } from '../packages/gateway/src/stores/sqlite/store.ts';
import { dice, gardener } from './garden.ts';
import { polyglot } from './tongues.ts';

/** What is appended together shares a commit. */
const TOGETHER = 4096;

type Kind = Draft['kind'];

const ROOMS: Readonly<Record<string, string>> = {
  garden: 'consciousness-garden',
  seeds: 'memory-garden',
  shepit: 'shepit-wall',
};

const [folder, count, mix = 'garden=1', tongues = 'one'] = process.argv.slice(2);
if (folder === undefined || !(Number(count) > 0)) {
  throw new Error('Cannot seed: use node seed.ts FOLDER COUNT [garden=2,seeds=1,shepit=1] [many]');
}
{
  await using log = await openSqliteLog({ folder });
  if (log.head() !== 0) throw new Error(`Cannot seed ${folder}: it has ${log.head()} entries`);
  await fill(log, Number(count), kindsOf(mix));
}
// Opened once more, so that it ends up as a gateway at rest leaves it: with its index complete.
await using log = await openSqliteLog({ folder });
while (log.searchWatermark() < log.head()) await pause(20);
console.log(log.head());

async function fill(log: Log, count: number, nextKind: () => Kind): Promise<void> {
  const nextDraft = drafts(nextKind);
  let before: Promise<unknown> = Promise.resolve();
  for (let done = 0; done < count; done += TOGETHER) {
    const size = Math.min(TOGETHER, count - done);
    const batch = Promise.all(Array.from({ length: size }, () => append(log, nextDraft())));
    // The next batch is made while the one before is being written.
    await before;
    before = batch;
  }
  await before;
}

async function append(log: Log, draft: Draft): Promise<void> {
  const { outcome } = await log.append(draft);
  if (outcome !== 'appended') throw new Error(`Cannot seed: an entry was ${outcome}`);
}

function drafts(nextKind: () => Kind): () => Draft {
  const next = tongues === 'many' ? polyglot() : gardener();
  const encoder = new TextEncoder();
  return () => {
    const kind = nextKind();
    const room = ROOMS[kind] ?? '';
    const entry = next();
    const facets = Buffer.concat([
      facet('kind', kind),
      facet('room', room),
      facet('identity', entry.identity),
      facet('identityType', entry.identityType),
    ]);
    return { kind, room, facets, body: encoder.encode(JSON.stringify(entry).slice(1, -1)) };
  };
}

function kindsOf(mix: string): () => Kind {
  const hand = mix.split(',').flatMap((part) => {
    const [kind = '', share = '1'] = part.split('=');
    if (kind !== 'garden' && kind !== 'seeds' && kind !== 'shepit') {
      throw new Error(`Cannot seed kind "${kind}": known are garden, seeds, shepit`);
    }
    return Array.from({ length: Number(share) }, (): Kind => kind);
  });
  const random = dice(11);
  let left: Kind[] = [];
  return () => {
    if (left.length === 0) left = [...hand];
    return left.splice(random(left.length), 1)[0] ?? 'garden';
  };
}
