import { open } from 'node:fs/promises';

import type { DataPaths } from '../sqlite/data-paths.ts';
import type { LargeBody } from '../sqlite/log/batch.ts';
import { assertBody, BodyDigest, filesOf, finalPath } from '../sqlite/log/large-files.ts';
import { packChunk } from './message.ts';
import type { Publisher } from './publisher.ts';

const CHUNK_SIZE = 512 * 1024 - 256;
/** Chunks on their way: what an upload holds in memory. */
const WINDOW = 4;

/**
 * Resolves when the stream has all files of an upload, which is complete and in its final place. The body
 * goes last: where one of the files cannot be read, or has other bytes, no copy takes the upload for whole.
 */
export async function sendUpload(
  paths: DataPaths,
  publisher: Publisher,
  { large, subject }: { readonly large: LargeBody; readonly subject: string },
): Promise<void> {
  const { name } = large;
  const body = new BodyDigest();
  const inFlight = new Set<Promise<void>>();
  for (const [file, path] of [...filesOf(name).entries()].toReversed()) {
    for await (const { bytes, offset } of chunksOf(finalPath(paths, path))) {
      if (file === 0) body.add(bytes);
      const [, sent] = publisher.publish(
        'chunk',
        packChunk({ name, file, offset, bytes }),
        subject,
      );
      const settled = sent.then(() => void inFlight.delete(settled));
      inFlight.add(settled);
      if (inFlight.size >= WINDOW) await Promise.race(inFlight);
    }
  }
  await Promise.all(inFlight);
  assertBody(body, large);
}

/** None where there is no such file. */
async function* chunksOf(path: string): AsyncGenerator<{ bytes: Uint8Array; offset: number }> {
  const handle = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return;
  await using file = handle;
  for (let offset = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_SIZE), {
      position: offset,
    });
    if (bytesRead === 0) return;
    yield { bytes: buffer.subarray(0, bytesRead), offset };
    offset += bytesRead;
  }
}
