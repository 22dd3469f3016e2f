/** The events `withheld` and `shown` of event streams (PROTOCOL.md section 12.6). */
import { WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import {
  streamChunk,
  type EventStream,
  type StreamChunk,
} from '../../http/response/event-stream.ts';
import type { Log, Withholding } from '../../log/log.ts';
import { withholdingDocument } from '../../operations/withholding/withholdings.ts';
import type { EventRequest } from './event-request.ts';

/** The chunk of a batch for all streams that get the whole of it. */
const chunks = new WeakMap<readonly Withholding[], StreamChunk>();

/** Sends an event for each case that the stream has (see `Framing`), if its reader keeps up. */
export function reportWithheld(
  log: Log,
  { kinds, rooms, framing }: Pick<EventRequest, 'framing' | 'kinds' | 'rooms'>,
  stream: EventStream,
): Disposable {
  const hasAll = framing.cases === 'all';
  const isWanted = ({ metadata }: Withholding): boolean =>
    hasAll ||
    ((kinds.length === 0 || kinds.includes(metadata.kind)) &&
      (rooms.length === 0 || rooms.includes(metadata.room)));
  return WithholdingNotifier.of(log).listen((batch) => {
    const wanted = batch.every(isWanted) ? batch : batch.filter(isWanted);
    const isMissed = wanted.length > 0 && !stream.writeIfIdle(chunkOf(wanted));
    if (isMissed && hasAll) stream.end();
  });
}

function chunkOf(batch: readonly Withholding[]): StreamChunk {
  const known = chunks.get(batch);
  if (known !== undefined) return known;
  const frames = batch.map(
    (withholding) =>
      `event: ${withholding.state === 'shown' ? 'shown' : 'withheld'}\ndata: ${JSON.stringify(withholdingDocument(withholding))}\n\n`,
  );
  const chunk = streamChunk(Buffer.from(frames.join('')));
  chunks.set(batch, chunk);
  return chunk;
}
