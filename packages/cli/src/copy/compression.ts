/** Compresses an export by the name of its file, and decompresses one by its first bytes. */
import { createReadStream } from 'node:fs';
import { type Duplex, pipeline } from 'node:stream';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';

interface Compression {
  readonly suffix: string;
  /** The first bytes of a compressed file. */
  readonly magic: Buffer;
  readonly compress: () => Duplex;
  readonly decompress: () => Duplex;
}

const CHUNK_SIZE = 256 * 1024;

const COMPRESSIONS: readonly Compression[] = [
  {
    suffix: '.gz',
    magic: Buffer.of(0x1f, 0x8b),
    compress: () => createGzip({ chunkSize: CHUNK_SIZE }),
    decompress: () => createGunzip({ chunkSize: CHUNK_SIZE }),
  },
  {
    suffix: '.zst',
    magic: Buffer.of(0x28, 0xb5, 0x2f, 0xfd),
    compress: () => createZstdCompress({ chunkSize: CHUNK_SIZE }),
    decompress: () => createZstdDecompress({ chunkSize: CHUNK_SIZE, rejectGarbageAfterEnd: true }),
  },
];

/** The compressor for a file of this name, if the name asks for one. */
export function compressorsFor(name: string): Duplex[] {
  return COMPRESSIONS.filter(({ suffix }) => name.endsWith(suffix)).map(({ compress }) =>
    compress(),
  );
}

export function readFileChunks(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: CHUNK_SIZE });
}

/** The decompressed bytes; the same bytes if they are not compressed. */
export async function* decompressed(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Uint8Array, void> {
  const source = bytes[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < 4) {
    const step = await source.next();
    if (step.done === true) break;
    start = Buffer.concat([start, step.value]);
  }
  const compression = COMPRESSIONS.find(({ magic }) => start.indexOf(magic) === 0);
  const all = joined(start, source);
  if (compression === undefined) yield* all;
  // `yield*` throws an error of either.
  else yield* pipeline(all, compression.decompress(), () => {}) as AsyncIterable<Buffer>;
}

async function* joined(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    if (start.length > 0) yield start;
    for (let step = await rest.next(); step.done !== true; step = await rest.next())
      yield step.value;
  } finally {
    await rest.return?.();
  }
}
