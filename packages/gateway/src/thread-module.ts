import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * The module of a thread: TypeScript in the repository, JavaScript in the built package, as its caller
 * is. `path`: relative to the caller, without an extension. `caller`: `import.meta.url`.
 */
export function threadModule(path: string, caller: string): URL {
  return new URL(path + extname(caller), caller);
}

/**
 * What a module posts from a thread of its own, which ends with that and takes the memory of what it
 * loaded with it. Rejects with what the module throws.
 */
export async function postedBy(module: URL, workerData: unknown): Promise<unknown> {
  const messages: readonly unknown[] = await once(new Worker(module, { workerData }), 'message');
  return messages[0];
}
