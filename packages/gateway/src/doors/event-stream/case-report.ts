/** The event `cases` of event streams (PROTOCOL.md section 12.6): one for any number of cases. */
import { type Cases, WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import { streamChunk, type EventStream } from '../../http/response/event-stream.ts';
import type { Log } from '../../log/log.ts';

/** Tells a stream of all cases, as soon as its reader keeps up. */
export function reportCases(log: Log, stream: EventStream): Disposable {
  const untold: Cases[] = [];
  let isWaiting = false;
  const tell = (): void => {
    for (let [one] = untold; one !== undefined && stream.writeIfIdle(eventOf(one)); [one] = untold)
      untold.shift();
    if (untold.length === 0 || isWaiting || !stream.isStalled) return;
    isWaiting = true;
    void stream.drained().then(() => {
      isWaiting = false;
      tell();
    });
  };
  stream.onEventEnd = tell;
  return WithholdingNotifier.of(log).listen({
    onCases(cases) {
      untold.push(...cases);
      tell();
    },
  });
}

function eventOf(cases: Cases): ReturnType<typeof streamChunk> {
  return streamChunk(Buffer.from(`event: cases\ndata: ${JSON.stringify(cases)}\n\n`));
}
