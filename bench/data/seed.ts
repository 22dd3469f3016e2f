/**
 * Fills a data folder: `node seed.ts FOLDER COUNT [garden=2,seeds=1,shepit=1] [many|keyed|threads]`.
 * Runs in its own process, so that it leaves nothing in memory. The kinds of a mix are shuffled in exactly
 * these proportions; `many` writes texts in several languages, `keyed` gives each an idempotency key, and of
 * `threads`, every fifth entry answers one of the latest.
 */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Draft, Log } from '../../packages/gateway/src/log/log.ts';
import { openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { seededRandom, gardenEntries } from './garden-entries.ts';
import { multilingualEntries } from './multilingual-entries.ts';

/** Every fifth entry is an answer, to one of this many entries before it. */
const ANSWERABLE = 65_536;
const ANSWER_EVERY = 5;
/** Appended together, so that they share a commit. */
const BATCH = 4096;

type Kind = Draft['kind'];

const answerable: string[] = [];

const ROOMS: Readonly<Record<string, string>> = {
  garden: 'consciousness-garden',
  seeds: 'memory-garden',
  shepit: 'shepit-wall',
};

const [folder, count, mix = 'garden=1', contents = 'one'] = process.argv.slice(2);
if (folder === undefined || !(Number(count) > 0)) {
  throw new Error(
    'Cannot seed: use node seed.ts FOLDER COUNT [garden=2,seeds=1,shepit=1] [many|keyed|threads]',
  );
}
{
  await using log = await openSqliteLog({ folder });
  if (log.head() !== 0) throw new Error(`Cannot seed ${folder}: it has ${log.head()} entries`);
  await fill(log, Number(count), kindsOf(mix));
}
// Reopened until the index is complete, as after a clean shutdown of a gateway.
await using log = await openSqliteLog({ folder });
while (log.searchWatermark() < log.head()) await pause(20);
console.log(log.head());

async function fill(log: Log, count: number, nextKind: () => Kind): Promise<void> {
  const nextDraft = drafts(nextKind);
  let before: Promise<unknown> = Promise.resolve();
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done);
    const batch = Promise.all(Array.from({ length: size }, () => append(log, nextDraft())));
    // The next batch is generated while the previous one is written.
    await before;
    before = batch;
  }
  await before;
}

async function append(log: Log, draft: Draft): Promise<void> {
  const result = await log.append(draft);
  if (result.outcome !== 'appended') throw new Error(`Cannot seed: an entry was ${result.outcome}`);
  const { id, seq } = result.metadata;
  answerable[seq % ANSWERABLE] = id;
}

function drafts(nextKind: () => Kind): () => Draft {
  const next = contents === 'many' ? multilingualEntries() : gardenEntries();
  const encoder = new TextEncoder();
  const random = seededRandom(13);
  let count = 0;
  return () => {
    const kind = nextKind();
    const room = ROOMS[kind] ?? '';
    const entry = next();
    count += 1;
    const isAnswer = contents === 'threads' && count % ANSWER_EVERY === 0;
    const inReplyTo = isAnswer ? answerable[random(answerable.length)] : undefined;
    const facets = Buffer.concat([
      facet('kind', kind),
      facet('room', room),
      facet('identity', entry.identity),
      facet('identityType', entry.identityType),
      ...(inReplyTo === undefined ? [] : [facet('inReplyTo', inReplyTo)]),
    ]);
    const body = encoder.encode(JSON.stringify({ ...entry, inReplyTo }).slice(1, -1));
    const draft = { kind, room, facets, body };
    if (contents !== 'keyed') return draft;
    return { ...draft, key: hash('sha256', `seed ${count}`, 'buffer') };
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
  const random = seededRandom(11);
  let left: Kind[] = [];
  return () => {
    if (left.length === 0) left = [...hand];
    return left.splice(random(left.length), 1)[0] ?? 'garden';
  };
}
