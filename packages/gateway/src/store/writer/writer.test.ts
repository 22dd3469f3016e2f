import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import { draftOf } from '../../log/log.fixture.ts';
import type { PackedDraft } from '../../log/packed-drafts.ts';
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

  it('makes an entry of each key, also where keys begin alike', () => {
    const writer = new Writer(dataPathsIn(folder), shared);
    const drafts = Array.from({ length: 70 }, (_, at): PackedDraft => {
      const { kind, room, facets, body } = draftOf({ body: `"text":"${at}"` });
      return { kind, room, facets, body, key: Buffer.alloc(32, 7).fill(at, 31), large: undefined };
    });
    const seqs = writer.commit([...drafts, ...drafts]).map(({ outcome, seq }) => [outcome, seq]);
    assert.deepEqual(seqs, [
      ...drafts.map((_, at) => ['appended', at + 1]),
      ...drafts.map((_, at) => ['repeated', at + 1]),
    ]);
    writer.close();
  });
});
