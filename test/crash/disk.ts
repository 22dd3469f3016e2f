/** A disk that can be filled: a small tmpfs, for which the tests must run as root. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const MIB: number = 1024 * 1024;

export interface Disk extends AsyncDisposable {
  /** A folder for a gateway. */
  readonly data: string;
  /** Takes all room that is left. */
  fill(): Promise<void>;
  /** Gives back what was taken, and the ballast. */
  free(): Promise<void>;
}

/** `ballast`: bytes that are taken from the beginning. */
export async function smallDisk(size: number, ballast = 0): Promise<Disk> {
  const place = await mkdtemp(join(tmpdir(), 'presence-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'presence', place]);
  } catch (error) {
    await rmdir(place);
    throw new Error(
      'A small disk is needed, and mounting a tmpfs is not permitted here: run the tests as root, in a container with --cap-add SYS_ADMIN.',
      { cause: error },
    );
  }
  const taken = join(place, 'taken');
  await writeFile(taken, Buffer.alloc(ballast));
  return {
    data: join(place, 'data'),
    async fill() {
      await using file = await open(taken, 'a');
      for (let piece = MIB; piece >= 4096; piece /= 2) {
        while (await takes(file.appendFile(Buffer.alloc(piece))));
      }
    },
    free: () => rm(taken, { force: true }),
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', place]);
      await rmdir(place);
    },
  };
}

async function takes(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
