/** How many entries were stored in each of some equal spans of time, by kind or by room. */
import { KINDS } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { facet } from '../log/facet.ts';
import type { Log, Seq } from '../log/log.ts';
import type { OperationsContext } from './context.ts';

type ActivityContext = Pick<OperationsContext, 'log' | 'language'>;

/** Bounds of longer spans are rounded to milliseconds, which are found with half the work. */
const EXACT_BELOW_MS = 1000;

interface ActivityQuery {
  /** Whether to count the entries of each kind or of each room. */
  readonly by: 'kind' | 'room';
  /** In ms since 1970, with decimals: see `seqAt`. By default the time of the oldest entry. */
  readonly from?: number;
  /** Exclusive. By default just after the time of the newest entry. */
  readonly to?: number;
  readonly spans: number;
  readonly signal?: AbortSignal;
}

export interface Activity {
  readonly head: Seq;
  /** Undefined in an empty log. */
  readonly oldest: number | undefined;
  readonly newest: number | undefined;
  readonly from: number;
  readonly to: number;
  /** The first seq of each span, and at last the first one after all spans. */
  readonly bounds: readonly Seq[];
  /** By kind or by room, the number of entries in each span. */
  readonly counts: Readonly<Record<string, readonly number[]>>;
}

/** Takes turns with other work, since the spans may be many and the log long. */
export async function countActivity(
  { log, language }: ActivityContext,
  query: ActivityQuery,
): Promise<Activity> {
  const head = log.head();
  const [oldest, newest] = [await timeOf(log, 1), await timeOf(log, head)];
  const from = query.from ?? oldest ?? log.now();
  const to = Math.max(from, query.to ?? (newest ?? from) + 1);
  const span = (to - from) / query.spans;
  const takeTurn = yieldPeriodically();
  const bounds: Seq[] = [];
  for (let index = 0; index <= query.spans; index += 1) {
    query.signal?.throwIfAborted();
    const time = from + span * index;
    const at = seqAt(log, span < EXACT_BELOW_MS ? time : Math.round(time));
    bounds.push(Math.min(head + 1, Math.max(at, bounds.at(-1) ?? 1)));
    await takeTurn();
  }
  const names = query.by === 'kind' ? KINDS : language.rooms.map(({ slug }) => slug);
  const counts: Record<string, number[]> = {};
  for (const name of names)
    counts[name] = await log.countBetween(facet(query.by, name), bounds, query.signal);
  return { head, oldest, newest, from, to, bounds, counts };
}

/** The first seq at this time or later. The entries of one millisecond count as spread evenly over it. */
function seqAt(log: Log, time: number): Seq {
  const whole = Math.floor(time);
  const first = log.firstSince(whole);
  return time === whole
    ? first
    : first + Math.ceil((time - whole) * (log.firstSince(whole + 1) - first));
}

async function timeOf(log: Log, seq: Seq): Promise<number | undefined> {
  return (await log.entry(seq))?.metadata.time;
}
