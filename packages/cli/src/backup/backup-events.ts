/** The reports that `presence backup` and `presence restore` share. */
import type { LogFault, RestoreReport, VerifyEvent } from '@open-presence/gateway';

import { entryCount, ProgressBar } from '../copy/progress-bar.ts';
import type { ProcessContext } from '../process-context.ts';

interface Output {
  readonly context: Pick<ProcessContext, 'stdout' | 'stderr'>;
  readonly json: boolean;
}

/** A JSON report names at most this many faults. */
const NAMED_FAULTS = 1000;

/** Shows the progress, and prints the faults or, for JSON, collects them. */
export async function reportEvents<Report>(
  events: AsyncGenerator<VerifyEvent, Report>,
  { context, json }: Output,
): Promise<{ report: Report; faults: readonly LogFault[] }> {
  using progress = new ProgressBar(context);
  const faults: LogFault[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done === true) return { report: step.value, faults };
    const event = step.value;
    if (event.type === 'progress') progress.show(event.entries, event.at / Math.max(event.head, 1));
    else if (!json) {
      const subject = event.seq === undefined ? '' : `Entry ${event.seq}: `;
      context.stdout.write(`${subject}${event.description}\n`);
    } else if (faults.length < NAMED_FAULTS)
      faults.push({ seq: event.seq, description: event.description });
  }
}

/** Says how many entries a backup has, and up to which entry and time. */
export function describeEnd({
  head,
  timestamp,
}: Pick<RestoreReport, 'head' | 'timestamp'>): string {
  if (head === 0) return 'No entries.';
  const time = timestamp === undefined ? '' : ` of ${timestamp}`;
  return `${head === 1 ? 'One entry' : entryCount(head)}, up to entry ${head}${time}.`;
}
