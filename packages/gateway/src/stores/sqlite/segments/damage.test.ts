/**
 * Files of segments are deleted, cut and flipped, before a start and while the log is open: answers stay
 * right, and the files are right again afterwards.
 */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { until } from '../../../../../../conformance/until.ts';
import { dataFolder, type DataFolder } from '../../../../../../test/gateway-process.ts';
import { facet } from '../../../log/facet.ts';
import { draftOf, fill, plainTexts, randomOf } from '../../../log/log.fixture.ts';
import type { Log, Selection } from '../../../log/log.ts';
import { bestSeqs, seqsFound, textQuery, untilSearchable } from '../../../search/search.fixture.ts';
import { SqliteLog } from '../sqlite-log.ts';
import { openSqliteLog } from '../store.ts';
import { verifyDerived } from './verify-segments.ts';

/** Seqs of a segment: three are sealed, and the last is open. */
const SIZE = 512;
const COUNT = 3 * SIZE + 200;
const GARDEN: Selection = { facets: [facet('kind', 'garden')], order: 'newest' };
/** The first, a sealed one between others, and the open one. */
const SEGMENTS = ['000000', '000001', '000003'];
const random = randomOf(29);

const FAULTS: Readonly<Record<string, (path: string) => void>> = {
  deleted: (path) => rmSync(path),
  cut: (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  flipped: (path) => {
    const bytes = readFileSync(path);
    for (let count = 0; count < 30; count += 1) {
      const at = random(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    }
    writeFileSync(path, bytes);
  },
};

/** Files of a segment, which are spoiled one by one and together. */
const FILES: Readonly<Record<string, RegExp>> = {
  'the index': /^index\.sqlite$/,
  'the record': /^segment\.json$/,
  'the chunks': /^chunks\//,
  'all files': /./,
};

function filesOf(folder: string, segment: string, kind: string): string[] {
  const path = join(folder, 'segments', segment);
  if (!existsSync(path)) return [];
  const found = readdirSync(path, { recursive: true, withFileTypes: true });
  const names = found.flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(path.length + 1)] : [],
  );
  return names.filter((name) => FILES[kind]?.test(name)).map((name) => join(path, name));
}

function hasIndex(folder: string, segment: string): boolean {
  return filesOf(folder, segment, 'the index').length === 1;
}

async function open(folder: string): ReturnType<typeof openSqliteLog> {
  return await openSqliteLog({ folder, segmentSize: SIZE });
}

async function textOf(log: Log): Promise<string> {
  const pieces = plainTexts(log, GARDEN, ',\n');
  const copies = await Array.fromAsync(pieces, (piece) => Buffer.from(piece));
  return Buffer.concat(copies).toString();
}

/** What is read in the ways that use segments. */
async function answers(log: Log): Promise<unknown[]> {
  const visitor = [facet('kind', 'garden'), facet('identity', 'visitor 7')];
  const textOrder = ({ room }: { room: string }, other: { room: string }): number =>
    room < other.room ? -1 : 1;
  return [
    await textOf(log),
    await seqsFound(log, { facets: visitor, order: 'newest' }),
    await seqsFound(log, { facets: visitor, order: 'oldest', limit: 3 }),
    await seqsFound(log, { facets: [facet('to', 'nobody')] }),
    await log.countBetween(facet('kind', 'garden'), [1, 300, 513, 1600, COUNT + 1]),
    log.roomCounts().toSorted(textOrder),
  ];
}

/** What is searched, once the words of all entries are known again. */
async function searches(log: Log): Promise<unknown[]> {
  await untilSearchable(log);
  return [
    await seqsFound(log, { textQuery: textQuery('w7'), order: 'newest' }),
    await seqsFound(log, { textQuery: textQuery('large*', '-moss'), order: 'oldest' }),
    await bestSeqs(log, textQuery('moss'), 40),
  ];
}

describe('files of segments', () => {
  let template: DataFolder;
  let right: unknown[];
  before(async () => {
    template = await dataFolder();
    await using log = await open(template.path);
    const drafts = Array.from({ length: COUNT }, (_, at) => {
      const text = `${'moss '.repeat(1 + (at % 5))} w${at % 100} ${'x'.repeat(400)}`;
      const identity = [`visitor ${at % 100}`];
      return draftOf({ body: `"text":"${text}"`, members: { identity } });
    });
    await Promise.all(drafts.slice(0, SIZE).map((draft) => log.append(draft)));
    for (const identity of ['visitor 7', 'visitor 8']) {
      const spool = log.spool();
      await fill(spool, [Buffer.from(`"text":"large w7 ${'y '.repeat(50_000)}"`)]);
      await log.append({ ...draftOf({ members: { identity: [identity] } }), body: spool });
    }
    await Promise.all(drafts.slice(SIZE + 2).map((draft) => log.append(draft)));
    await untilSearchable(log);
    right = [...(await answers(log)), ...(await searches(log))];
    // Sealed in the background, and its chunks made for the reader.
    await until(
      async () => [
        existsSync(join(template.path, 'segments/000002/segment.json')),
        filesOf(template.path, '000000', 'the chunks').length > 0 || (await textOf(log)).length < 0,
      ],
      (done) => done.every(Boolean),
      (done) => JSON.stringify(done),
    );
  });
  after(() => template[Symbol.asyncDispose]());

  async function assertRight(log: Log): Promise<void> {
    assert.deepEqual(await answers(log), right.slice(0, 6));
    assert.deepEqual(await searches(log), right.slice(6));
  }

  /** Resolves once the index and the record of each sealed segment are there, and all files are right. */
  async function untilMade(folder: string, log: Log): Promise<void> {
    await until(
      async () => [
        ...['000000', '000001', '000002'].filter(
          (segment) => filesOf(folder, segment, 'the record').length === 0,
        ),
        ...(await Array.fromAsync(verifyDerived(folder, log.id), ({ file }) => file)),
        // A chunk is found to be spoiled by whoever reads it.
        ...((await textOf(log)) === right[0] ? [] : ['another text']),
      ],
      (wrong) => wrong.length === 0,
      (wrong) => `Not made again: ${wrong.join()}`,
    );
  }

  /** After a stop, all files are there, and right. */
  async function assertMended(folder: string, logId: string): Promise<void> {
    assert.deepEqual(await Array.fromAsync(verifyDerived(folder, logId)), []);
    if (['000000', '000001', '000002', '000003'].some((segment) => !hasIndex(folder, segment))) {
      // The stop came while one was made again, which the next start goes on with.
      await using log = await open(folder);
      await untilSearchable(log);
      await untilMade(folder, log);
    }
    for (const segment of ['000000', '000001', '000002', '000003'])
      for (const kind of ['the index', 'the record'])
        assert.equal(filesOf(folder, segment, kind).length, 1, `${kind} of ${segment}`);
  }

  for (const [how, spoil] of Object.entries(FAULTS))
    for (const kind of Object.keys(FILES)) {
      it(`are right again where ${kind} were ${how} before a start, and every answer is`, async () => {
        await using folder = await dataFolder();
        cpSync(template.path, folder.path, { recursive: true });
        for (const segment of SEGMENTS)
          for (const path of filesOf(folder.path, segment, kind)) spoil(path);
        let logId: string;
        {
          await using log = await open(folder.path);
          logId = log.id;
          await assertRight(log);
          await untilMade(folder.path, log);
        }
        await assertMended(folder.path, logId);
      });

      it(`are right again where ${kind} were ${how} while they were read, and every answer is`, async () => {
        await using folder = await dataFolder();
        cpSync(template.path, folder.path, { recursive: true });
        let logId: string;
        {
          await using log = await open(folder.path);
          logId = log.id;
          await assertRight(log);
          for (const segment of SEGMENTS)
            for (const path of filesOf(folder.path, segment, kind)) spoil(path);
          // Has read nothing of them before.
          await using other = new SqliteLog(log.connect());
          await assertRight(other);
          await assertRight(log);
          // What was read before may be found in memory alone; a record is not read while it runs.
          if (kind !== 'the record') await untilMade(folder.path, log);
        }
        await assertMended(folder.path, logId);
      });
    }

  it('of another format are made again', async () => {
    await using folder = await dataFolder();
    cpSync(template.path, folder.path, { recursive: true });
    {
      await using log = await openSqliteLog({ folder: folder.path, segmentSize: 300 });
      assert.deepEqual(await answers(log), right.slice(0, 6));
    }
    await using log = await open(folder.path);
    await assertRight(log);
  });
});
