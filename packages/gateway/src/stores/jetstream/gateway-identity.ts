import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';

import type { DataPaths } from '../sqlite/data-paths.ts';

/**
 * 16 hexadecimal digits: the same at each start of a gateway over its folder, and others over a copy of
 * the folder, also under the same path and host name, as containers may have them. Where the file system
 * does not tell when a file was made, another one at each start.
 */
export function gatewayIdentity({ folder, lock }: DataPaths): string {
  // The file is made at the first start, and whoever copies it makes another one.
  const { ino, birthtimeNs } = statSync(lock, { bigint: true });
  const text = `${hostname()} ${folder} ${ino} ${birthtimeNs}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
