/**
 * How many entries each room got on each of the last days.
 *
 * Counted in the log once a day, in each thread: past days do not change, and today's number follows
 * from how many entries the room has.
 */
import type { Log } from '../../../log/log.ts';
import { type Activity, countActivity } from '../../../operations/activity.ts';
import type { DoorContext } from '../../context.ts';

const DAY_MS = 24 * 60 * 60_000;
const DAYS = 28;

type Counts = ReadonlyMap<string, number>;

interface Counted {
  /** The end of its last day. */
  readonly to: number;
  /** How many entries each room had then. */
  readonly totals: Counts;
  readonly activity: Promise<Activity>;
}

const countedByLog = new WeakMap<Log, Counted>();

/** By room, the numbers of entries of each day, the oldest day first. */
export async function roomActivity(app: DoorContext): Promise<(slug: string) => number[]> {
  const { log } = app;
  const to = Math.ceil((log.now() + 1) / DAY_MS) * DAY_MS;
  const totals = totalsOf(log);
  let counted = countedByLog.get(log);
  if (counted?.to !== to) {
    counted = { to, totals, activity: count(app, to) };
    countedByLog.set(log, counted);
  }
  const { counts } = await counted.activity;
  const earlier = counted.totals;
  return (slug) => {
    const since = (totals.get(slug) ?? 0) - (earlier.get(slug) ?? 0);
    const days = counts[slug] ?? [];
    return days.map((entries, day) => (day === days.length - 1 ? entries + since : entries));
  };
}

async function count(app: DoorContext, to: number): Promise<Activity> {
  try {
    return await countActivity(app, { by: 'room', from: to - DAYS * DAY_MS, to, spans: DAYS });
  } catch (error) {
    countedByLog.delete(app.log);
    throw error;
  }
}

function totalsOf(log: Log): Counts {
  const totals = new Map<string, number>();
  for (const { room, count } of log.roomCounts()) totals.set(room, (totals.get(room) ?? 0) + count);
  return totals;
}
