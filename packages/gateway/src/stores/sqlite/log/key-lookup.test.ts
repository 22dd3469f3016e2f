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
import type { LargeBody, PackedDraft } from './batch.ts';
import { finalPath } from './large-files.ts';
import { sha256 } from './sha256.ts';
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

/** What may have become of all that decides about a retry. Entries 2, 4 and 5 have keys. */
function* damages(): Generator<string> {
  const digest = (seq: number): string =>
    `(SELECT substr(key, 17) FROM entries WHERE seq = ${seq})`;
  for (const [seq, other] of [
    [2, 4],
    [2, 3],
    [2, 66],
    [5, 1],
    [5, 2],
  ] as const)
    yield `UPDATE keys SET seq = ${other} WHERE key = ${digest(seq)}`;
  for (const seq of [2, 4, 5]) {
    for (const at of [1, 16, 17, 48])
      yield `UPDATE entries SET key = CAST(substr(key, 1, ${at - 1}) || x'5a' || substr(key, ${at + 1}) AS BLOB) WHERE seq = ${seq}`;
    yield `UPDATE entries SET link = zeroblob(32) WHERE seq = ${seq}`;
    yield `UPDATE entries SET link = zeroblob(32) WHERE seq = ${seq - 1}`;
  }
}

suite('an idempotency key', () => {
  const filled = newFolder();
  before(() => {
    const two = small({ key: 'second', body: '"text":"two"' });
    const drafts = [small(), small({ key: 'first' }), small(), two, large(filled, LARGE), small()];
    commit(filled, drafts);
  });
  after(() => rmSync(filled.folder, { recursive: true, force: true }));

  for (const damage of damages()) {
    test(`has its one entry after ${damage}`, () => {
      const paths = newFolder();
      cpSync(filled.folder, paths.folder, { recursive: true });
      const db = new DatabaseSync(paths.log);
      assert.ok(db.prepare(damage).run().changes > 0);
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
      assert.deepEqual(commit(paths, [small({ key: 'third' })]), ['appended 7']);
      rmSync(paths.folder, { recursive: true, force: true });
    });
  }
});
