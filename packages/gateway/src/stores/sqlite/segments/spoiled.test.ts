/** A segment is reported as spoiled: what happens until another takes its place. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';

import { dataFolder } from '../../../../../../test/gateway-process.ts';
import { draftOf } from '../../../log/log.fixture.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { openForReading, readMeta } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { fingerprintOf } from '../shared-segments.ts';
import { SharedState } from '../shared-state.ts';
import { openSqliteLog } from '../store.ts';
import { indexFile, openIndex } from './segment-database.ts';
import { SegmentReader, type SpoiledSegment } from './segment-reader.ts';
import { Segments } from './segments.ts';

const COUNT = 'SELECT count(*) AS count FROM answered';

/** Puts an index with this many answered entries in the place of the one before. */
function putIndex(paths: DataPaths, answered: number): void {
  const file = indexFile(paths, 0);
  mkdirSync(dirname(file), { recursive: true });
  const db = openIndex(`${file}.new`);
  const insert = db.prepare('INSERT INTO answered VALUES (?)');
  for (let at = 0; at < answered; at += 1) insert.run(at);
  db.close();
  renameSync(`${file}.new`, file);
}

for (const mark of ['', 'sealed'] as const)
  describe(`a segment (${mark || 'open'}) that took the place of a spoiled one`, () => {
    const world = async (): Promise<
      {
        readonly paths: DataPaths;
        readonly shared: SharedState;
        readonly reader: SegmentReader;
        readonly reported: SpoiledSegment[];
        readonly put: (answered: number) => void;
      } & AsyncDisposable
    > => {
      const folder = await dataFolder();
      const [paths, shared] = [dataPathsIn(folder.path), new SharedState()];
      const reported: SpoiledSegment[] = [];
      const reader = new SegmentReader(paths, shared.segments, (spoiled) => reported.push(spoiled));
      const put = (answered: number): void => {
        shared.segments.withdraw(0);
        putIndex(paths, answered);
        shared.segments.publish(0, fingerprintOf(statSync(indexFile(paths, 0))), mark);
      };
      const dispose = async (): Promise<void> => {
        reader[Symbol.dispose]();
        await folder[Symbol.asyncDispose]();
      };
      return { paths, shared, reader, reported, put, [Symbol.asyncDispose]: dispose };
    };
    const countIn = (reader: SegmentReader): number => {
      for (const steps = reader.steps(0, (index) => index.statement(COUNT).get()); ;) {
        const { done, value } = steps.next();
        if (done === true) return Number(value?.value?.['count']);
      }
    };

    it('is read by whoever had the old file open', async () => {
      await using made = await world();
      made.put(3);
      assert.equal(countIn(made.reader), 3);
      made.put(5);
      assert.equal(countIn(made.reader), 5);
      assert.deepEqual(made.reported, []);
    });

    it('is not reported for a fault of the old file', async () => {
      await using made = await world();
      made.put(3);
      assert.equal(countIn(made.reader), 3);
      // The old file has lost its form, and stays open.
      const broken = indexFile(made.paths, 0);
      writeFileSync(broken, Buffer.alloc(statSync(broken).size, 7));
      made.put(5);
      assert.equal(countIn(made.reader), 5);
      assert.deepEqual(made.reported, []);
    });
  });

describe('a search for a segment that was reported as spoiled', () => {
  it('waits until the segment was made again', async () => {
    await using folder = await dataFolder();
    {
      await using log = await openSqliteLog({ folder: folder.path });
      for (let at = 0; at < 10; at += 1) await log.append(draftOf());
    }
    const paths = dataPathsIn(folder.path);
    using db = openForReading(paths.log, 256);
    const [log, shared] = [new RowReader(db), new SharedState()];
    shared.head = log.lastSeq();
    const logId = String(readMeta(db, 'name'));
    const segments = new Segments({ paths, shared, log, logId, onSpoiled: () => {} });
    for await (const _ of segments.open());
    segments.follow();
    while (await segments.work());
    await segments.available(0);

    const { generation } = shared.segments.state(0) ?? { generation: 0 };
    segments.report({ number: 0, generation, isCorrupt: true });
    let isOver = false;
    const waiting = segments.available(0).then(() => (isOver = true));
    await nextTick();
    assert.equal(isOver, false);
    while (await segments.work());
    await waiting;
    assert.notEqual(shared.segments.state(0)?.generation, generation);
    await segments.close();
  });
});
