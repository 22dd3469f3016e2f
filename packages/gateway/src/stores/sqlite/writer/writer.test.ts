import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { PackedDraft } from '../../../log/packed-drafts.ts';
import { Writer } from './writer.ts';

describe('the writer', () => {
  let folder: string;
  let shared: SharedState;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'presence-'));
    shared = new SharedState();
    mkdirSync(dataPathsIn(folder).large, { recursive: true });
    writeFileSync(dataPathsIn(folder).lock, '');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('throws a fault of its own, rather than take it for one of the disk', () => {
    const writer = new Writer(dataPathsIn(folder), shared);
    const draft = { kind: 'garden', room: 'garden' } as unknown as PackedDraft;
    assert.throws(() => writer.commit([draft]), TypeError);
    assert.equal(shared.writable, true);
    writer.close();
  });

  it('stores, and tells the cause, where only last-commit cannot be written', () => {
    mkdirSync(dataPathsIn(folder).lastCommit);
    const writer = new Writer(dataPathsIn(folder), shared);
    const [result] = writer.commit([
      {
        kind: 'garden',
        room: 'garden',
        facets: Buffer.alloc(0),
        key: undefined,
        body: Buffer.from('"text":"moss"'),
        large: undefined,
      },
    ]);
    assert.equal(result?.outcome, 'appended');
    assert.match(String(writer.takeFaults().lastCommit), /EISDIR/);
    writer.close();
  });
});
