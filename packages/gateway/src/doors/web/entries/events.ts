/** `GET /web/events`: as `/api/events`, with each entry as the HTML that a list shows, as events `entry`. */
import type { LogRange } from '../../../feed/follow.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { streamChunk, type StreamChunk } from '../../../http/response/event-stream.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';
import { events } from '../../event-stream/events.ts';
import { shellOf } from '../shell.ts';
import { htmlOf } from './entries.ts';

const VIEWS = ['rooms', 'above'];

/** Streams with the same language and view get the same bytes. */
export async function sendEvents(context: DoorRequest): Promise<void> {
  const shell = { ...shellOf(context), url: '/' };
  const given = queryOf(context.request).get('view');
  const view = given !== null && VIEWS.includes(given) ? given : null;
  const name = `page ${shell.locale} ${shell.localeChosen} ${view ?? ''}`;
  const frame = (log: Log, range: LogRange, size: number): AsyncGenerator<StreamChunk> =>
    pageFrames(log, range, size, (entry) => htmlOf(log, entry, shell, view));
  await events(everythingScope, { name, frame })(context);
}

async function* pageFrames(
  log: Log,
  range: LogRange,
  size: number,
  render: (entry: Parameters<typeof htmlOf>[1]) => Promise<string>,
): AsyncGenerator<StreamChunk, void, undefined> {
  let frames = '';
  let last: Seq | undefined;
  for await (const entry of log.readEntries(range)) {
    last = entry.metadata.seq;
    frames += `id: ${last}\nevent: entry\ndata: ${JSON.stringify(await render(entry))}\n\n`;
    if (frames.length < size) continue;
    yield streamChunk(Buffer.from(frames), last);
    frames = '';
  }
  if (frames !== '') yield streamChunk(Buffer.from(frames), last);
}
