// The messages of the stream alone decide whether a copy takes an upload.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { type DataPaths, dataPathsIn } from '../../../gateway/src/store/data-paths.ts';
import { finalPath } from '../../../gateway/src/store/large/large-files.ts';
import { SqliteUploadFiles } from '../../../gateway/src/store/replica/upload-files.ts';
import { SharedState } from '../../../gateway/src/store/shared-state.ts';
import { packMessage, placeMessage, type PlacedMessage } from '../stream/message.ts';
import { ReceivedUploads } from './received-uploads.ts';

const START = 1_700_000_000_000;
const DAY = 86_400_000;
const NAME = '0c7a6d4e-0000-4000-8000-000000000000';
const BYTES = Buffer.from('"text":"in three chunks here"}');
const BODY = { name: NAME, size: BYTES.length, digest: digestOf(BYTES) };
const [OTHER, KILLED, RESTARTED] = [
  'aa'.repeat(16),
  'bb'.repeat(16),
  `${'bb'.repeat(8)}${'cc'.repeat(8)}`,
];

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes.subarray(0, -1)).digest('hex');
}

function messageOf(publisher: string, position: number, days: number): PlacedMessage {
  const time = START + days * DAY;
  const origin = { publisher, number: position, settled: 0, sent: time };
  return placeMessage({
    seq: position,
    time: new Date(time),
    data: packMessage('chunk', origin, []),
  });
}

describe('uploads of a stream', () => {
  let folder: string;
  let paths: DataPaths;
  let files: SqliteUploadFiles;
  let uploads: ReceivedUploads;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'presence-'));
    paths = dataPathsIn(folder);
    mkdirSync(paths.large, { recursive: true });
    const shared = new SharedState();
    shared.uploadThreads = 1;
    files = new SqliteUploadFiles(paths, shared, () => {});
    uploads = new ReceivedUploads(files);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Adds the chunk that begins at `offset`, of 10 bytes. */
  function add(position: number, offset: number, from = BYTES): void {
    const bytes = from.subarray(offset, offset + 10);
    uploads.add(messageOf(KILLED, position, 0), { name: NAME, offset, bytes });
  }

  it('are whole when all chunks are there, in any order and however often', () => {
    for (const [position, offset] of [
      [7, 20],
      [8, 0],
      [9, 0],
      [10, 20],
    ] as const) {
      add(position, offset);
      assert.ok(!uploads.isWhole(BODY));
    }
    assert.equal(uploads.resumeAt(10), 7);
    add(11, 10);
    assert.ok(uploads.isWhole(BODY));
    uploads.completed(NAME, 12);
    assert.ok(!uploads.isWhole(BODY), 'a second draft does not get it');
    assert.equal(uploads.resumeAt(12), 13);
  });

  it('are not whole when one byte in the stream differs', () => {
    const wrong = [BYTES.with(12, 0), BYTES.with(BYTES.length - 1, 0)].map((bytes) =>
      Buffer.from(bytes),
    );
    for (const bytes of wrong) {
      uploads = new ReceivedUploads(new SqliteUploadFiles(paths, new SharedState(), () => {}));
      for (const [position, offset] of [20, 0, 10].entries()) add(position, offset, bytes);
      assert.ok(!uploads.isWhole(BODY));
    }
  });

  it('are abandoned when their gateway is silent for more than a day, or starts again', async () => {
    add(7, 0);
    assert.deepEqual(uploads.abandonedBy(messageOf(OTHER, 8, 0.9)), []);
    assert.deepEqual(uploads.abandonedBy(messageOf(KILLED, 9, 0.9)), []);
    assert.deepEqual(uploads.abandonedBy(messageOf(OTHER, 10, 1.8)), []);
    assert.deepEqual(uploads.abandonedBy(messageOf(OTHER, 11, 2)), [NAME]);
    assert.deepEqual(uploads.abandonedBy(messageOf(RESTARTED, 12, 1)), [NAME]);
    await uploads.discard(NAME);
    assert.equal(uploads.resumeAt(12), 13);
    assert.ok(!uploads.isWhole(BODY));
  });

  it('get their final place only if their bytes are those that were sent', async () => {
    const bytes = Buffer.from('"text":"of two chunks"}');
    const large = { ...BODY, size: bytes.length, digest: digestOf(bytes) };
    const write = (from: number, to?: number): Promise<void> =>
      files.write(NAME, { offset: from, bytes: bytes.subarray(from, to) });
    await write(0, 8);
    writeFileSync(`${finalPath(paths, NAME)}.part`, Buffer.alloc(8));
    await write(8);
    await assert.rejects(files.place(large), /other bytes/);
    await write(0, 8);
    await files.place(large);
    assert.deepEqual(readFileSync(finalPath(paths, NAME)), bytes);
  });
});
