import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { PackedDraft } from './batch.ts';
import { Writer } from './writer.ts';

describe('the writer', () => {
  it('throws a fault of its own, rather than take it for one of the disk', () => {
    const folder = mkdtempSync(join(tmpdir(), 'presence-'));
    const paths = dataPathsIn(folder);
    mkdirSync(paths.incoming, { recursive: true });
    writeFileSync(paths.lock, '');
    const shared = new SharedState();
    const writer = new Writer(paths, shared);
    const draft = { kind: 'garden', room: 'garden' } as unknown as PackedDraft;
    assert.throws(() => writer.commit([draft]), TypeError);
    assert.equal(shared.writable, true);
    writer.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
