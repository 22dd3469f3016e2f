import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { type DraftFields, draftOf } from '../../../log/log.fixture.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { LargeBody, PackedDraft } from '../../../log/packed-drafts.ts';
import { changeEntries, changeEntry } from './changed-log.fixture.ts';
import { bucketsOf, KeyBuckets } from './key-buckets.ts';
import { finalPath } from './large-files.ts';
import { repairBuckets } from './refill-buckets.ts';
import { sha256 } from './sha256.ts';
import { verifyKeys } from './verify-keys.ts';
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
  const file: LargeBody = { name, size: body.length + 1, digest, marked: false };
  return { ...small({ key: 'large' }), body: new Uint8Array(0), large: file };
}

function newFolder(): DataPaths {
  const paths = dataPathsIn(mkdtempSync(join(tmpdir(), 'presence-')));
  mkdirSync(paths.incoming, { recursive: true });
  writeFileSync(paths.lock, '');
  return paths;
}

/** What becomes of each draft, with the seq of its entry. */
function commit(paths: DataPaths, drafts: readonly PackedDraft[]): string[] {
  const writer = new Writer(paths, new SharedState());
  const results = drafts.flatMap((draft) => writer.commit([draft]));
  writer.close();
  return results.map(({ outcome, seq }) => `${outcome} ${seq}`);
}

/** More keys than fit into the first bucket of this one. */
function crowd(key: string): PackedDraft[] {
  const { key: digest = Buffer.alloc(0) } = small({ key });
  const others = Array.from({ length: 70 }, (_, at) => sha256(Buffer.from(String(at))));
  return others.map((other) => ({
    ...small(),
    key: Buffer.concat([digest.subarray(0, 2), other.subarray(2)]),
  }));
}

/** The buckets that a lookup of the key reads. */
function bucketsRead(db: DatabaseSync, key: string): number[] {
  const { key: digest = Buffer.alloc(0) } = small({ key });
  const last = new KeyBuckets(db).find(digest).number;
  return [...bucketsOf(digest)].filter((bucket) => bucket <= last);
}

function dataOf(db: DatabaseSync, bucket: number): Uint8Array {
  const row = db.prepare('SELECT data FROM key_buckets WHERE bucket = ?').get(bucket);
  return row?.['data'] as Uint8Array;
}

function setData(db: DatabaseSync, bucket: number, data: Uint8Array): void {
  db.prepare('UPDATE key_buckets SET data = ? WHERE bucket = ?').run(data, bucket);
}

/** What may have become of the buckets that a lookup reads. */
function* bucketDamages(db: DatabaseSync): Generator<readonly [string, () => void]> {
  const first = bucketsRead(db, 'first');
  const second = bucketsRead(db, 'second');
  assert.deepEqual([first.length, second.length], [3, 1]);
  for (const bucket of [...first, ...second]) {
    const data = Buffer.from(dataOf(db, bucket));
    for (let at = 0; at < Math.min(data.length, 30); at += 1) {
      const changed = Buffer.from(data).fill((data[at] ?? 0) ^ (1 << (at % 8)), at, at + 1);
      yield [`byte ${at} of ${bucket} has changed`, () => setData(db, bucket, changed)];
    }
    yield [`${bucket} is shorter`, () => setData(db, bucket, data.subarray(0, -1))];
    yield [`${bucket} is empty`, () => setData(db, bucket, Buffer.alloc(5))];
    yield [`${bucket} is nothing`, () => setData(db, bucket, Buffer.alloc(0))];
    yield [`${bucket} is gone`, () => db.exec(`DELETE FROM key_buckets WHERE bucket = ${bucket}`)];
    yield [
      `${bucket} has another number`,
      () =>
        db.exec(`UPDATE key_buckets SET bucket = 1 + (SELECT max(bucket) FROM key_buckets)
        WHERE bucket = ${bucket}`),
    ];
    const other = bucket + (bucket % 2 === 0 ? 1 : -1);
    const otherData = dataOf(db, other);
    yield [
      `${bucket} and ${other} are exchanged`,
      () => {
        setData(db, bucket, otherData);
        setData(db, other, data);
      },
    ];
  }
  yield ['all are gone', () => db.exec('DELETE FROM key_buckets')];
}

/** What may have become of all that decides about a retry. Entries 2, 4 and 5 have keys. */
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
    writer.commit(crowd('first'));
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
      assert.deepEqual(commit(paths, [small({ key: 'third' })]), ['appended 77']);
      rmSync(paths.folder, { recursive: true, force: true });
    });
  }

  test('finds its one entry whatever has changed of its buckets, which are whole again then', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    const retries = [small({ key: 'first' }), small({ key: 'second', body: '"text":"two"' })];
    const db = new DatabaseSync(paths.log);
    for (const [name, damage] of bucketDamages(db)) {
      damage();
      assert.deepEqual(commit(paths, retries), ['repeated 2', 'repeated 4'], name);
      const read = [...bucketsRead(db, 'first'), ...bucketsRead(db, 'second')];
      const faults = [...verifyKeys(db, 76)].flat().filter(({ bucket }) => read.includes(bucket));
      assert.deepEqual(faults, [], name);
    }
    const others = crowd('first');
    const repeated = others.map((_, at) => `repeated ${at + 7}`);
    assert.deepEqual(commit(paths, others), repeated);
    assert.deepEqual(commit(paths, [small({ key: 'third' })]), ['appended 77']);
    db.close();
    rmSync(paths.folder, { recursive: true, force: true });
  });

  test('stores nothing where its buckets can neither be read nor made again', () => {
    const paths = newFolder();
    cpSync(filled.folder, paths.folder, { recursive: true });
    const db = new DatabaseSync(paths.log);
    const [bucket = 0] = bucketsRead(db, 'first');
    setData(db, bucket, Buffer.alloc(5));
    // Whatever is written below the bucket removes it.
    db.exec(`CREATE TRIGGER unwritable BEFORE INSERT ON key_buckets WHEN NEW.bucket >= 65536
      BEGIN DELETE FROM key_buckets WHERE bucket = ${bucket}; END`);
    const drafts = [small({ key: 'first' }), small({ key: 'third' }), small({ key: 'first' })];
    assert.deepEqual(commit(paths, drafts), ['unavailable 0', 'appended 77', 'unavailable 0']);
    db.exec('DROP TRIGGER unwritable');
    db.close();
    assert.deepEqual(commit(paths, drafts), ['repeated 2', 'repeated 77', 'repeated 2']);
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
      'appended 77',
    ]);
    for (const faults of verifyKeys(db, 77))
      if (faults.length > 0) repairBuckets(db, new Set(faults.map(({ bucket }) => bucket)));
    db.close();
    assert.deepEqual(commit(paths, [two]), ['appended 78']);
    rmSync(paths.folder, { recursive: true, force: true });
  });
});
