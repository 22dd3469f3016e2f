import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { parseLanguage } from '@open-presence/protocol/language-file';

import { draftOf } from '../log/log.fixture.ts';
import type { Log } from '../log/log.ts';
import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';
import { countActivity } from './activity.ts';

const FILE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));
const language = parseLanguage((await readFile(FILE)).toString(), 'mova-snu.yaml');

async function logOf(count: number): Promise<Log> {
  const log = openMemoryLog();
  const kinds = ['garden', 'seeds', 'shepit'] as const;
  for (let at = 0; at < count; at += 1) {
    const room = at % 2 === 0 ? 'memory-garden' : 'shepit-wall';
    await log.append(draftOf({ kind: kinds[at % 3] ?? 'garden', room }));
  }
  return log;
}

const total = (counts: readonly number[] | undefined): number =>
  (counts ?? []).reduce((sum, count) => sum + count, 0);

describe('activity', () => {
  it('counts each entry once, by kind and by room, in whatever many spans', async () => {
    await using log = await logOf(60);
    for (const spans of [1, 2, 7, 64, 1024]) {
      const byKind = await countActivity({ log, language }, { by: 'kind', spans });
      assert.deepEqual(
        Object.entries(byKind.counts).map(([kind, counts]) => [kind, counts.length, total(counts)]),
        [
          ['resonance', spans, 0],
          ['garden', spans, 20],
          ['seeds', spans, 20],
          ['shepit', spans, 20],
        ],
      );
      assert.deepEqual([byKind.bounds[0], byKind.bounds.at(-1)], [1, 61]);
      const byRoom = await countActivity({ log, language }, { by: 'room', spans });
      assert.equal(total(byRoom.counts['shepit-wall']), 30);
      assert.equal(Object.keys(byRoom.counts).length, language.rooms.length);
    }
  });

  it('spreads the entries of one millisecond evenly over it', async () => {
    const log = openMemoryLog();
    const drafts = Array.from({ length: 2000 }, () => log.append(draftOf()));
    await Promise.all(drafts);
    const entries = log.readEntries({ facets: [], order: 'oldest' });
    const times = await Array.fromAsync(entries, ({ metadata }) => metadata.time);
    const byTime = Map.groupBy(times, (time) => time);
    // However slow the machine is, one millisecond has the most.
    const [time = 0] = [...byTime].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
    const [first, next] = [log.firstSince(time), log.firstSince(time + 1)];
    const query = { by: 'kind', from: time, to: time + 1, spans: 4 } as const;
    const { bounds } = await countActivity({ log, language }, query);
    const quarter = (next - first) / 4;
    const expected = [0, 1, 2, 3, 4].map((index) => first + Math.ceil(quarter * index));
    assert.deepEqual(bounds, expected);
    assert.ok(next - first > 4);
  });

  it('says of an empty log that there is nothing', async () => {
    await using log = openMemoryLog();
    const activity = await countActivity({ log, language }, { by: 'kind', spans: 3 });
    assert.deepEqual([activity.head, activity.oldest, activity.newest], [0, undefined, undefined]);
    assert.deepEqual(activity.bounds, [1, 1, 1, 1]);
    assert.deepEqual(activity.counts['garden'], [0, 0, 0]);
  });
});
