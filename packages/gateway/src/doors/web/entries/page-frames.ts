/** Writes entries as server-sent events for pages: what a page shows of each. */
import type { LogRange } from '../../../feed/follow.ts';
import { streamChunk, type StreamChunk } from '../../../http/response/event-stream.ts';
import type { Log, Seq } from '../../../log/log.ts';
import type { Framing } from '../../event-stream/fan-out.ts';
import { pageEntryOf } from './page-entry.ts';

export const PAGE_FRAMES: Framing = { name: 'page', frame: framePageEntries };

async function* framePageEntries(
  log: Log,
  range: LogRange,
  size: number,
): AsyncGenerator<StreamChunk, void, undefined> {
  let frames = '';
  let last: Seq | undefined;
  for await (const entry of log.readEntries(range)) {
    last = entry.metadata.seq;
    frames += `id: ${last}\nevent: entry\ndata: ${JSON.stringify(await pageEntryOf(entry))}\n\n`;
    if (frames.length < size) continue;
    yield streamChunk(Buffer.from(frames), last);
    frames = '';
  }
  if (frames !== '') yield streamChunk(Buffer.from(frames), last);
}
