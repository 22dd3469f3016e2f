import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The module of a thread, with the extension of `caller` (`import.meta.url`), to which `path` is relative. */
export function threadModule(path: string, caller: string): URL {
  return new URL(path + extname(caller), caller);
}

/** What a module posts from a thread, which then ends and frees its memory. Rejects with what it throws. */
export async function postedBy(module: URL, workerData: unknown): Promise<unknown> {
  const messages: readonly unknown[] = await once(new Worker(module, { workerData }), 'message');
  return messages[0];
}
