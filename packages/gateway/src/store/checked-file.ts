import { crc32 } from 'node:zlib';

/** The CRC-32 of a text. */
export function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  );
}
