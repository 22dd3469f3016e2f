import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { type DraftFields, draftOf, randomOf } from '../../../log/log.fixture.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { LargeBody, PackedDraft } from '../../../log/packed-drafts.ts';
import { changeEntries, changeEntry } from '../log/changed-log.fixture.ts';
import { prefixOf, UNTIL } from './keys.ts';
import { finalPath } from '../large/large-files.ts';
import { openLogForReading } from '../log/log-database.ts';
import { sha256 } from '../log/chain.ts';
import { verifyKeys } from '../log/verify-keys.ts';
import { Writer } from './writer.ts';

const LARGE = `"text":"${'large '.repeat(20_000)}"`;

function small(fields: DraftFields = {}): PackedDraft {
  const { kind, room, facets, key, body } = draftOf(fields);
  return { kind, room, facets, key, body, large: undefined };
}

/** As an upload has left it. */
function large(paths: DataPaths, body: string): PackedDraft {
  const name = randomUUID();
  mkdirSync(dirname(finalPath(paths, name)), { recursive: true });
  writeFileSync(finalPath(paths, name), `${body}}`);
  const digest = Buffer.from(sha256(Buffer.from(body))).toString('hex');
  const file: LargeBody = { name, size: body.length + 1, digest };
  return { ...small({ key: 'large' }), body: new Uint8Array(0), large: file };
}

function newFolder(): DataPaths {
  const paths = dataPathsIn(mkdtempSync(join(tmpdir(), 'presence-')));
  mkdirSync(paths.large, { recursive: true });
  writeFileSync(paths.lock, '');
  return paths;
}

function openWriter(paths: DataPaths): Writer & Disposable {
  const writer = new Writer(paths, new SharedState());
  return Object.assign(writer, { [Symbol.dispose]: () => writer.close() });
}

function keyFaults(paths: DataPaths): unknown[] {
  using db = openLogForReading(paths);
  return [...verifyKeys(db, paths, NEXT)].flat();
}

/** What becomes of each draft, with the seq of its entry. */
function commit(paths: DataPaths, drafts: readonly PackedDraft[]): string[] {
  const writer = new Writer(paths, new SharedState());
  const results = drafts.flatMap((draft) => writer.commit([draft]));
  writer.close();
  return results.map(({ outcome, seq }) => `${outcome} ${seq}`);
}

const OTHERS = 300;
/** The seq of the entry after those that all tests begin with. */
const NEXT = OTHERS + 7;

/** Other keys, so that those of the entries have neighbours. */
function crowd(): PackedDraft[] {
  return Array.from({ length: OTHERS }, (_, at) => small({ key: `other ${at}` }));
}

/** Where the row of a key is in the file, with its header. */
function placeOf(file: Buffer, { key = Buffer.alloc(0) }: PackedDraft): number {
  const prefix = Buffer.alloc(6);
  prefix.writeUIntBE(prefixOf(key), 0, 6);
  const at = file.lastIndexOf(prefix);
  assert.ok(at > 0);
  return at - 5;
}

/** What may have become of the file as a whole. */
const FILE_DAMAGES = [
  'PRAGMA user_version = 0; DROP TABLE keys',
  'PRAGMA user_version = 9',
  `DELETE FROM keys WHERE prefix = ${UNTIL}`,
  `UPDATE keys SET sum = sum + 1 WHERE prefix = ${UNTIL}`,
  `UPDATE keys SET seq = 99999 WHERE prefix = ${UNTIL}`,
  `UPDATE keys SET seq = 3 WHERE prefix = ${UNTIL}`,
];

/** What may have happened to everything that decides about a retry. Entries 2, 4 and 5 have keys. */
function* damages(): Generator<readonly [string, (db: DatabaseSync) => void]> {
  for (const seq of [2, 4, 5]) {
    for (const at of [0, 15, 16, 47])
      yield [
        `byte ${at} of the key of ${seq} has changed`,
        (db) =>
          changeEntry(db, seq, ({ key = Buffer.alloc(0) }) => ({
            key: Buffer.from(key).fill((key[at] ?? 0) ^ 0x5a, at, at + 1),
          })),
      ];
    for (const linked of [seq, seq - 1])
      yield [
        `the link of ${linked} has changed, for ${seq}`,
        (db) => changeEntry(db, linked, () => ({ link: Buffer.alloc(32) })),
      ];
  }
}

suite('an idempotency key', () => {
  const filled = newFolder();
  before(() => {
    const two = small({ key: 'second', body: '"text":"two"' });
    const drafts = [small(), small({ key: 'first' }), small(), two, large(filled, LARGE), small()];
    commit(filled, drafts);
    const writer = new Writer(filled, new SharedState());
    writer.commit(crowd());
    writer.close();
  });
  after(() => rmSync(filled.folder, { recursive: true, force: true }));

  for (const [name, damage] of damages()) {
    test(`has its one entry after ${name}`, () => {
      const paths = newFolder();
      cpSync(filled.folder, paths.folder, { recursive: true });
      const db = new DatabaseSync(paths.log);
      damage(db);
      db.close();
      const repeated = commit(paths, [
        small({ key: 'first' }),
        small({ key: 'second', body: '"text":"two"' }),
        large(paths, LARGE),
      ]);
      assert.deepEqual(repeated, ['repeated 2', 'repeated 4', 'repeated 5']);
      const conflicts = commit(paths, [
        small({ key: 'first', body: '"text":"other"' }),
        small({ key: 'second', body: '"text":"owt"' }),
        large(paths, LARGE.replace('large', 'Large')),
      ]);
      assert.deepEqual(conflicts, ['conflict 2', 'conflict 4', 'conflict 5']);
      assert.deepEqual(commit(paths, [small({ key: 'third' })]), [`appended ${NEXT}`]);
      rmSync(paths.folder, { recursive: true, force: true });
    });
  }

  /** Like a client that retries while it is unknown whether an entry has the key. */
  function retry(paths: DataPaths, draft: PackedDraft): string {
    using writer = openWriter(paths);
    for (;;) {
      const [result] = writer.commit([draft]);
      if (result?.outcome !== 'unavailable') return `${result?.outcome} ${result?.seq}`;
      writer.addKeys();
    }
  }

  test('finds its one entry whatever bit of its row has changed', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    const file = readFileSync(paths.keys);
    const random = randomOf(5);
    const drafts = crowd();
    const first = small({ key: 'first' });
    const flips = Array.from({ length: 8 * 15 }, (_, bit) => ({ draft: first, seq: 2, bit }));
    for (let count = 0; count < 120; count += 1) {
      const at = random(OTHERS);
      flips.push({ draft: drafts[at] ?? first, seq: at + 7, bit: random(8 * 15) });
    }
    for (const { draft, seq, bit } of flips) {
      const changed = Buffer.from(file);
      const at = placeOf(changed, draft) + (bit >> 3);
      changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(paths.keys, changed);
      assert.equal(retry(paths, draft), `repeated ${seq}`, `bit ${bit} of the key of ${seq}`);
    }
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('finds its one entry whatever has become of the file, which is whole again then', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    for (const damage of FILE_DAMAGES) {
      {
        using db = new DatabaseSync(paths.keys);
        db.exec(damage);
      }
      assert.equal(retry(paths, small({ key: 'first' })), 'repeated 2', damage);
      assert.deepEqual(keyFaults(paths), [], damage);
    }
    const repeated = crowd().map((_, at) => `repeated ${at + 7}`);
    assert.deepEqual(commit(paths, crowd()), repeated);
    assert.deepEqual(commit(paths, [small({ key: 'third' })]), [`appended ${NEXT}`]);
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('stores what has no key, and nothing twice, while the file of keys cannot be read', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    const drafts = [small({ key: 'first' }), small(), small({ key: 'third' })];
    {
      using writer = openWriter(paths);
      truncateSync(paths.keys, 0);
      using db = new DatabaseSync(paths.keys);
      // Removes what the writer has in the WAL as well.
      db.exec('PRAGMA journal_mode = DELETE');
      const outcomes = writer.commit(drafts).map(({ outcome }) => outcome);
      assert.equal(outcomes[1], 'appended');
      assert.notEqual(outcomes[0], 'appended');
    }
    assert.deepEqual(commit(paths, drafts.slice(0, 1)), ['repeated 2']);
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('is known again after the file of keys was removed, while the writer runs or before', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    rmSync(paths.keys);
    assert.deepEqual(commit(paths, [small({ key: 'first' })]), ['repeated 2']);
    using writer = openWriter(paths);
    rmSync(paths.keys);
    while (writer.addKeys() !== 'complete');
    assert.deepEqual(keyFaults(paths), []);
    const [result] = writer.commit([small({ key: 'first' })]);
    assert.deepEqual([result?.outcome, result?.seq], ['repeated', 2]);
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('that begins like another has an entry of its own', () => {
    const paths = newFolder();
    const like = (last: number): PackedDraft => ({
      ...small({ body: `"text":"${last}"` }),
      key: Buffer.alloc(32, 7).fill(last, 31),
    });
    const drafts = Array.from({ length: 70 }, (_, at) => like(at));
    const writer = new Writer(paths, new SharedState());
    assert.deepEqual(
      writer.commit([...drafts, ...drafts]).map(({ outcome, seq }) => `${outcome} ${seq}`),
      [
        ...drafts.map((_, at) => `appended ${at + 1}`),
        ...drafts.map((_, at) => `repeated ${at + 1}`),
      ],
    );
    writer.close();
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('that lost its entry is neither stored again nor refused for good', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    const db = new DatabaseSync(paths.log);
    changeEntries(db, (entries) => entries.delete(4));
    const two = small({ key: 'second', body: '"text":"two"' });
    assert.deepEqual(commit(paths, [two, small({ key: 'third' })]), [
      'unavailable 0',
      `appended ${NEXT}`,
    ]);
    db.close();
    rmSync(paths.keys);
    assert.deepEqual(commit(paths, [two]), [`appended ${NEXT + 1}`]);
    rmSync(paths.folder, { recursive: true, force: true });
  });
});
