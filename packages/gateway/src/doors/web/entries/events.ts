/**
 * `GET /web/events`: as `/api/events`, with what pages show of each entry, as events `entry`.
 */
import { portableJson } from '@open-presence/protocol';

import type { LogRange } from '../../../feed/follow.ts';
import { streamChunk, type StreamChunk } from '../../../http/response/event-stream.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorHandler } from '../../context.ts';
import { events } from '../../event-stream/events.ts';
import { withAnswered } from './answers.ts';
import { pageEntryOf } from './page-entry.ts';

export const sendEvents: DoorHandler = events(everythingScope, {
  name: 'page',
  frame: pageFrames,
});

async function* pageFrames(
  log: Log,
  range: LogRange,
  size: number,
): AsyncGenerator<StreamChunk, void, undefined> {
  let frames = '';
  let last: Seq | undefined;
  for await (const entry of log.readEntries(range)) {
    last = entry.metadata.seq;
    const shown = await withAnswered(log, await pageEntryOf(entry));
    frames += `id: ${last}\nevent: entry\ndata: ${portableJson(shown)}\n\n`;
    if (frames.length < size) continue;
    yield streamChunk(Buffer.from(frames), last);
    frames = '';
  }
  if (frames !== '') yield streamChunk(Buffer.from(frames), last);
}
