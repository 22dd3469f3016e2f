/** The times that are written below the picture. */
import type { TimeRange } from '../garden-data.ts';

export interface Tick {
  readonly time: number;
  readonly label: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const DATE = { day: 'numeric', month: 'short' } as const;

interface Step {
  readonly length: number;
  readonly format: Intl.DateTimeFormatOptions;
  /** Moves a date to the next tick. Without it, ticks are at multiples of the length, in local time. */
  readonly next?: (date: Date) => void;
  readonly start?: (date: Date) => void;
}

const STEPS: readonly Step[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((length) => {
    return { length, format: { ...CLOCK, second: '2-digit', fractionalSecondDigits: 3 } as const };
  }),
  ...[1, 2, 5, 15, 30].map((seconds) => {
    return { length: seconds * SECOND, format: { ...CLOCK, second: '2-digit' } as const };
  }),
  ...[1, 2, 5, 15, 30].map((minutes) => ({ length: minutes * MINUTE, format: CLOCK })),
  ...[1, 3, 6, 12].map((hours) => ({ length: hours * HOUR, format: { ...DATE, ...CLOCK } })),
  ...[1, 2, 7, 14].map((days) => ({
    length: days * DAY,
    format: DATE,
    start: (date: Date) => date.setHours(0, 0, 0, 0),
    next: (date: Date) => date.setDate(date.getDate() + days),
  })),
  ...[1, 3, 6].map((months) => ({
    length: months * MONTH,
    format: { month: 'short', year: 'numeric' } as const,
    start: startOfMonth,
    next: (date: Date) => date.setMonth(date.getMonth() + months),
  })),
  ...[1, 2, 5, 10, 50].map((years) => ({
    length: years * YEAR,
    format: { year: 'numeric' } as const,
    start: (date: Date) => {
      startOfMonth(date);
      date.setMonth(0);
    },
    next: (date: Date) => date.setFullYear(date.getFullYear() + years),
  })),
];

function startOfMonth(date: Date): void {
  date.setHours(0, 0, 0, 0);
  date.setDate(1);
}

/** Ticks at round times in the visitor's time zone, not closer than `shortest`, in ms. */
export function ticksIn(view: TimeRange, shortest: number, locale: string): Tick[] {
  const step = STEPS.find(({ length }) => length >= shortest) ?? STEPS.at(-1);
  if (step === undefined) return [];
  const format = new Intl.DateTimeFormat(locale, step.format);
  return timesIn(view, step).map((time) => ({ time, label: format.format(time) }));
}

const UNITS = [
  ['year', YEAR],
  ['month', MONTH],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;

/** Such as "Nov 27". */
export function dayText(time: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, DATE).format(time);
}

/** Such as "6 days". */
export function durationText(length: number, locale: string): string {
  const [unit, size] = UNITS.find(([, least]) => length >= 2 * least) ?? UNITS[5];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.round(length / size));
}

function timesIn(view: TimeRange, { length, start, next }: Step): number[] {
  const times: number[] = [];
  if (start === undefined || next === undefined) {
    const shift = length > SECOND ? new Date(view.from).getTimezoneOffset() * MINUTE : 0;
    const first = Math.ceil((view.from - shift) / length) * length + shift;
    for (let time = first; time <= view.to; time += length) times.push(time);
    return times;
  }
  const date = new Date(view.from);
  start(date);
  for (; date.getTime() <= view.to; next(date)) {
    if (date.getTime() >= view.from) times.push(date.getTime());
  }
  return times;
}
