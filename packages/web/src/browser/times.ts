/** Shows times in the visitor's own time zone, or how long ago they were. */
import { locale } from './page.ts';

const MINUTE_MS = 60_000;

/** Each unit with its length in minutes, and the number of minutes from which the next one is used. */
const UNITS = [
  ['minute', 1, 60],
  ['hour', 60, 24 * 60],
  ['day', 24 * 60, 7 * 24 * 60],
  ['week', 7 * 24 * 60, 60 * 24 * 60],
  ['month', 30 * 24 * 60, 730 * 24 * 60],
  ['year', 365 * 24 * 60, Infinity],
] as const;

const local = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const passed = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });

setInterval(() => showTimes(document), MINUTE_MS);

export function showTimes(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const time = new Date(element.dateTime);
    const text = local.format(time);
    element.title = text;
    element.textContent = 'relative' in element.dataset ? passedSince(time.getTime()) : text;
  }
}

export function timeText(time: number): string {
  return local.format(time);
}

function passedSince(time: number): string {
  const minutes = Math.max(0, Math.floor((Date.now() - time) / MINUTE_MS));
  const [unit, size] = UNITS.find(([, , limit]) => minutes < limit) ?? UNITS[5];
  return passed.format(-Math.floor(minutes / size), unit);
}
