import assert from 'node:assert/strict';
import { copyFile, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { walFrames } from './wal-frames.ts';
import { SpoiledWords } from './words-database.ts';

test('of a WAL that has changed, the frames before the change are read', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'presence-wal-'));
  const [file, copy] = [join(folder.path, 'a.sqlite'), join(folder.path, 'copy')];
  using database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  await copyFile(`${file}-wal`, copy);
  const frames = framesOf(copy);
  const whole = await readFile(copy);
  // Not the version of the format, nor the number of the checkpoint.
  const header = [...range(3, 4), ...range(8, 12), ...range(16, 32)];
  for (const at of [...header, ...range(32, whole.length, 509)]) {
    const spoiled = Buffer.from(whole);
    spoiled.writeUInt8(spoiled.readUInt8(at) ^ 0x81, at);
    await writeFile(copy, spoiled);
    const found = framesOf(copy);
    assert.ok(found.length < frames.length, `byte ${at}`);
    assert.deepEqual(found, frames.slice(0, found.length));
    assert.throws(() => framesOf(copy, frames.length), SpoiledWords);
  }
});

function framesOf(file: string, count?: number): string[] {
  return Array.from(
    walFrames(file, count),
    ({ page, bytes }) => `${page} ${bytes.toString('hex')}`,
  );
}

function range(start: number, end: number, step = 1): number[] {
  return Array.from(
    { length: Math.ceil((end - start) / step) },
    (_, index) => start + index * step,
  );
}
