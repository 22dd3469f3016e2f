// All files of a data folder, spoiled in all ways, at a start and while the log is open. What becomes
// of it is the right answer, a refusal that says why, or one without an entry that is lost.
// PRESENCE_SEED repeats a run.
import assert from 'node:assert/strict';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';

import { KINDS } from '../../../conformance/entry.ts';
import { until } from '../../../conformance/until.ts';
import { isStorageFault } from '../../../packages/gateway/src/storage-fault.ts';
import { openSqliteLog, type OwnedLog } from '../../../packages/gateway/src/store/store.ts';
import { dataFolder, type DataFolder } from '../../gateway-process.ts';
import { SeededRandom } from '../../seeded-random.ts';
import { MIB, smallDisk } from '../disk.ts';
import { Remembered } from './remembered.ts';
import { CHANGES, type Fault, FAULTS, mend, spoil } from './spoil.ts';
import { needs } from '../../needs.ts';

/** `refused`: by the start, by reads or by both. `holding`: right, but nothing can be appended. */
type Outcome = 'right' | 'holding' | 'lost' | 'refused';

/** Files that are spoiled together, since what becomes of each can be told apart. */
interface Row {
  readonly files: readonly string[];
  readonly faults: readonly Fault[];
  readonly outcomes: readonly Outcome[];
  /** Whether the log is moved from the WAL into `log.sqlite` first. */
  readonly inPages?: true;
}

/** Only `presence verify` finds bytes that have changed and kept the form of an entry. */
const LOSSES: readonly Fault[] = ['missing', 'truncated'];

/** Where a page has no entry, nothing is lost. */
const PAGES: Row = {
  files: ['log.sqlite'],
  faults: ['truncated'],
  outcomes: ['lost', 'refused', 'right', 'holding'],
  inPages: true,
};
const LARGE: Row = { files: ['large/1'], faults: LOSSES, outcomes: ['lost'] };

const AT_START: readonly Row[] = [
  PAGES,
  {
    files: ['index.sqlite', 'lock.sqlite'],
    faults: CHANGES,
    outcomes: ['right'],
  },
  {
    files: ['last-commit', 'log.sqlite-shm'],
    faults: CHANGES,
    outcomes: ['right'],
  },
  LARGE,
  { files: ['log.sqlite'], faults: ['missing'], outcomes: ['refused'] },
  // The last bytes of a WAL may belong to no commit.
  { files: ['log.sqlite-wal'], faults: CHANGES, outcomes: ['refused', 'right'] },
  ...['log.sqlite', 'lock.sqlite', 'last-commit'].map((file): Row => ({
    files: [file],
    faults: ['not writable'],
    outcomes: ['refused'],
  })),
  {
    files: ['log.sqlite-wal', 'index.sqlite', 'large/1'],
    faults: ['not writable'],
    outcomes: ['holding', 'right', 'refused'],
  },
];

const WHILE_OPEN: readonly Row[] = [
  PAGES,
  {
    files: ['index.sqlite', 'index.sqlite-wal', 'lock.sqlite', 'last-commit'],
    faults: FAULTS,
    outcomes: ['right', 'holding', 'refused'],
  },
  LARGE,
  // Search may not have opened it yet.
  { files: ['log.sqlite'], faults: ['missing'], outcomes: ['right', 'refused'] },
  { files: ['log.sqlite'], faults: ['not writable'], outcomes: ['right', 'holding'] },
  { files: ['log.sqlite-shm'], faults: ['missing'], outcomes: ['right', 'holding'] },
  // The ranges of withheld entries may be in it.
  { files: ['log.sqlite-wal'], faults: FAULTS, outcomes: ['right', 'holding', 'refused'] },
];

const SEED = Number(process.env['PRESENCE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = new SeededRandom(SEED);
const NEEDS_DISK = needs('to mount a disk');
const acknowledged = new Remembered();
let template: DataFolder;

before(async () => {
  template = await dataFolder();
  await using folder = await dataFolder();
  await using log = await openSqliteLog({ folder: folder.path });
  for (const kind of KINDS) {
    // Enough for a frame of two kinds.
    const count = kind === 'garden' || kind === 'seeds' ? 20 : 2;
    for (let at = 0; at < count; at += 1) await acknowledged.append(log, kind, 60_000);
    await acknowledged.append(log, kind, 100_000);
    await acknowledged.append(log, kind, 20);
  }
  assert.deepEqual(await acknowledged.read(log), { lost: new Set(), errors: [] });
  // An index that is behind would be made from a log that is spoiled.
  await until(
    async () => log.indexWatermark(),
    (indexed) => indexed === log.head(),
  );
  // As a crash leaves it.
  await cp(folder.path, template.path, { recursive: true });
});
after(async () => {
  await template[Symbol.asyncDispose]();
});

/** The files of a data folder that a name in the table stands for. */
async function filesOf(data: string, name: string): Promise<string[]> {
  if (!name.endsWith('1')) return [join(data, name)];
  const found = await readdir(join(data, name.slice(0, -2)), {
    recursive: true,
    withFileTypes: true,
  });
  const files = found.filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .slice(0, 1);
}

/** The data folder of a row. */
async function copyTemplate(folder: string, { inPages }: Row): Promise<void> {
  await cp(template.path, folder, { recursive: true });
  if (inPages !== true) return;
  const db = new DatabaseSync(join(folder, 'log.sqlite'));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Spoils files until it is disposed of, as far as that can be undone. */
async function spoilAll(data: string, { files }: Row, fault: Fault): Promise<Disposable> {
  const paths = (await Promise.all(files.map((name) => filesOf(data, name)))).flat();
  for (const path of paths) spoil(path, fault, random.next());
  return {
    [Symbol.dispose]() {
      if (fault === 'not writable') for (const path of paths) mend(path);
    },
  };
}

async function outcomeOf(log: OwnedLog, known: Remembered, row?: Row): Promise<Outcome> {
  const { lost, errors } = await known.read(log, {
    mayLack: row?.outcomes.includes('lost') === true,
    mayRefuse: row?.outcomes.includes('refused') === true,
  });
  for (const error of errors) assertClear(error);
  const isStored = await known.append(log, 'garden', 20);
  if (errors.length > 0) return 'refused';
  if (lost.size > 0) return 'lost';
  return isStored ? 'right' : 'holding';
}

async function outcomeOfStart(folder: string, known: Remembered, row?: Row): Promise<Outcome> {
  let log: OwnedLog;
  try {
    log = await openSqliteLog({ folder });
  } catch (error) {
    assertClear(error);
    return 'refused';
  }
  await using _ = log;
  return await outcomeOf(log, known, row);
}

/** On a full disk: search goes on with what it knows. */
async function readAll(log: OwnedLog, known: Remembered): Promise<void> {
  const { lost, errors } = await known.read(log, { mayLag: true });
  assert.deepEqual([lost, errors], [new Set(), []]);
}

/** What it takes to inflict a fault. */
function needsOf(fault: Fault): { readonly skip?: string } {
  return fault === 'not writable' ? needs('files that even root cannot write') : {};
}

/** A fault of ours is no answer. */
function assertClear(error: unknown): void {
  const isKnown = isStorageFault(error) || (error instanceof Error && error.name !== 'TypeError');
  assert.ok(isKnown, String(error));
}

describe(`files that are spoiled before a start (PRESENCE_SEED=${SEED})`, () => {
  for (const row of AT_START) {
    for (const fault of row.faults) {
      it(`${row.files.join(', ')}: ${fault}`, needsOf(fault), async () => {
        await using folder = await dataFolder();
        await copyTemplate(folder.path, row);
        using _ = await spoilAll(folder.path, row, fault);
        const outcome = await outcomeOfStart(folder.path, new Remembered(acknowledged), row);
        assert.ok(row.outcomes.includes(outcome), outcome);
      });
    }
  }
});

describe(`files that are spoiled while the log is open (PRESENCE_SEED=${SEED})`, () => {
  for (const row of WHILE_OPEN) {
    for (const fault of row.faults) {
      it(`${row.files.join(', ')}: ${fault}`, needsOf(fault), async () => {
        await using folder = await dataFolder();
        await copyTemplate(folder.path, row);
        const known = new Remembered(acknowledged);
        {
          await using log = await openSqliteLog({ folder: folder.path });
          using _ = await spoilAll(folder.path, row, fault);
          await known.append(log, 'garden', 20);
          await known.append(log, 'seeds', 100_000);
          const outcome = await outcomeOf(log, known, row);
          assert.ok(row.outcomes.includes(outcome), outcome);
        }
        // Nothing that was acknowledged is lost without a word.
        await outcomeOfStart(folder.path, known, row);
      });
    }
  }
});

describe('a full disk', NEEDS_DISK, () => {
  it('leaves all files right, while the log is open and at a start', async () => {
    await using disk = await smallDisk(64 * MIB);
    await cp(template.path, disk.data, { recursive: true });
    const known = new Remembered(acknowledged);
    {
      await using log = await openSqliteLog({ folder: disk.data });
      await disk.fill();
      while (await known.append(log, 'garden', 60_000));
      while (await known.append(log, 'seeds', 100_000));
      assert.ok(log.searchWatermark() > 0);
      await readAll(log, known);
      assert.equal(await known.append(log, 'garden', 20), false);
    }
    {
      await using log = await openSqliteLog({ folder: disk.data });
      await readAll(log, known);
    }
    await disk.free();
    assert.equal(await outcomeOfStart(disk.data, known), 'right');
  });
});
