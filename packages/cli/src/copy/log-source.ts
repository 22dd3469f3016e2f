/** Opens the log that a command reads: in a folder, beside a gateway that may be running, or over HTTP. */
import { Gateway } from '@open-presence/client';
import { type FolderLog, openFolderLog } from '@open-presence/gateway';

export interface LogSourceOptions {
  readonly data: string;
  /** In place of the folder. */
  readonly url?: string;
  readonly after?: number;
  readonly limit?: number;
}

/** The lines of a log as bytes, and the number of entries in them, if it is known. */
export interface LogSource extends AsyncDisposable {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly total: number | undefined;
}

/** Throws if the folder has no log that can be read. */
export function openLogSource(
  { url, data, after = 0, limit }: LogSourceOptions,
  signal: AbortSignal,
): LogSource {
  if (url !== undefined) {
    const bytes = new Gateway(url).logBytes({ after, limit, signal });
    return { bytes, total: undefined, [Symbol.asyncDispose]: async () => {} };
  }
  const log = openFolderLog(data);
  if (after > log.head) {
    log[Symbol.dispose]();
    throw new Error(`--after must be at most ${log.head}, the last entry.`);
  }
  const range = limit === undefined ? { after, signal } : { after, limit, signal };
  const total = Math.min(log.head - after, limit ?? Number.POSITIVE_INFINITY);
  return {
    bytes: linesAfter(log, range),
    total,
    [Symbol.asyncDispose]: async () => log[Symbol.dispose](),
  };
}

/** The lines of a log in a folder, as `GET /api/log` gives them: after a checkpoint. */
async function* linesAfter(
  log: FolderLog,
  range: Parameters<FolderLog['readChain']>[0] & { readonly after: number },
): AsyncGenerator<Uint8Array, void> {
  const checkpoint = { log: log.name, head: range.after, link: log.linkAt(range.after) };
  yield Buffer.from(`${JSON.stringify(checkpoint)}\n`);
  yield* log.readChain(range);
}
