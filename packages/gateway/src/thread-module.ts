import { extname } from 'node:path';

/**
 * The module of a thread: TypeScript in the repository, JavaScript in the built package, as its caller
 * is. `path`: relative to the caller, without an extension. `caller`: `import.meta.url`.
 */
export function threadModule(path: string, caller: string): URL {
  return new URL(path + extname(caller), caller);
}
