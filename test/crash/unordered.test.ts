// The power fails under file systems that write changes of folders in no order: what has reached the
// device is copied while the gateway runs, repaired as after a crash, and opened.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { Gateway } from '../../conformance/gateway.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { MIB } from './disk.ts';
import { Ledger } from './ledger.ts';
import { needs } from '../needs.ts';

const FILE_SYSTEMS = [['ext2'], ['ext4', '-O', '^has_journal']] as const;

const run = promisify(execFile);

for (const [type, ...options] of FILE_SYSTEMS) {
  test(
    `${[type, ...options].join(' ')}: what was acknowledged outlives a power cut`,
    needs('to mount a disk image'),
    async () => {
      await using folder = await imageFolder();
      const { image, cut } = folder;
      await run(`/sbin/mkfs.${type}`, ['-q', '-F', ...options, image]);
      const ledger = new Ledger();
      {
        await using disk = await mountImage(image);
        // The gateway makes several folders: the disk loses each one that is not flushed.
        const data = join(disk.path, 'a/b/data');
        await using gateway = await startGatewayProcess({ data });
        using visitor = new Gateway(gateway.url);
        for (const size of [10, 200_000, 100, 70_000, 3_000_000])
          (await ledger.submit(visitor, ledger.newSubmission('garden', size, true))).expect(201);
        await copyFile(image, cut);
        await gateway.kill();
      }
      await repair(cut);
      await using disk = await mountImage(cut);
      await using gateway = await startGatewayProcess({ data: join(disk.path, 'a/b/data') });
      using visitor = new Gateway(gateway.url);
      assert.equal(await ledger.compare(visitor), ledger.acknowledged.length);
      await gateway.stop();
    },
  );
}

interface ImageFolder extends AsyncDisposable {
  readonly image: string;
  readonly cut: string;
}

async function imageFolder(): Promise<ImageFolder> {
  const path = await mkdtemp(join(tmpdir(), 'presence-image-'));
  const image = join(path, 'image');
  await writeFile(image, '');
  await truncate(image, 128 * MIB);
  return {
    image,
    cut: join(path, 'cut'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

async function mountImage(image: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = `${image}-mounted`;
  await mkdir(path);
  try {
    await run('mount', ['-o', 'loop', image, path]);
  } catch (error) {
    throw new Error(
      'Mounting an image is not permitted here: run the tests as root, with loop devices.',
      { cause: error },
    );
  }
  return { path, [Symbol.asyncDispose]: async () => void (await run('umount', [path])) };
}

/** As a start of the machine does. e2fsck exits with 1 where it has changed something. */
async function repair(image: string): Promise<void> {
  try {
    await run('/sbin/e2fsck', ['-f', '-y', image]);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error;
  }
}
