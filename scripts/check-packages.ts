/** `npm run check:packages`: what publint and attw find in the packages. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { asObject } from '../conformance/value.ts';
import { packAll, ROOT, run } from '../test/packages/packed.ts';

const folder = await mkdtemp(join(tmpdir(), 'presence-packages-'));
try {
  for (const { name, tarball, size, unpackedSize } of await packAll(folder)) {
    const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;
    console.log(`${name}: ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`);
    await check('publint', 'run', tarball, '--strict');
    // The command has no types.
    if (name !== 'cli') await check('attw', tarball, '--profile', 'esm-only', '--quiet');
  }
} finally {
  await rm(folder, { recursive: true });
}

async function check(program: string, ...args: readonly string[]): Promise<void> {
  await run(join(ROOT, 'test/node_modules/.bin', program), args).catch((error: unknown) => {
    const { stdout, stderr } = asObject(error);
    process.exitCode = 1;
    console.error(`${program}:\n${String(stdout)}${String(stderr)}`);
  });
}
