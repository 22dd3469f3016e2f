/** A time as `<time>`: in UTC until the script runs, then in the visitor's own time zone. */
import type { Locale } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useShell } from './shell.ts';

const FORMAT = { dateStyle: 'medium', timeStyle: 'short' } as const;

interface MomentProps {
  readonly timestamp: string;
  /** Shows how much time has passed, once the script runs. */
  readonly relative?: boolean;
}

export function Moment({ timestamp, relative = false }: MomentProps): VNode {
  const { locale } = useShell();
  const now = useNow(relative);
  const time = new Date(timestamp);
  const inUtc = formatIn(locale, 'UTC').format(time);
  if (now === undefined) {
    return (
      <time dateTime={timestamp}>
        {inUtc}
        <span class="without-script"> UTC</span>
      </time>
    );
  }
  const local = formatIn(locale, undefined).format(time);
  return (
    <time dateTime={timestamp} title={local}>
      {relative ? passedSince(time.getTime(), now, locale) : local}
    </time>
  );
}

const MINUTE_MS = 60_000;

/** Undefined until the script has taken over the page. */
function useNow(isUpdated: boolean): number | undefined {
  const [now, setNow] = useState<number | undefined>(undefined);
  useEffect(() => {
    setNow(Date.now());
    if (!isUpdated) return undefined;
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Each unit with its length in minutes, and the number of minutes from which the next one is used. */
const UNITS = [
  ['minute', 1, 60],
  ['hour', 60, 24 * 60],
  ['day', 24 * 60, 7 * 24 * 60],
  ['week', 7 * 24 * 60, 60 * 24 * 60],
  ['month', 30 * 24 * 60, 730 * 24 * 60],
  ['year', 365 * 24 * 60, Infinity],
] as const;

function passedSince(time: number, now: number, locale: Locale): string {
  const minutes = Math.max(0, Math.floor((now - time) / MINUTE_MS));
  const [unit, size] = UNITS.find(([, , limit]) => minutes < limit) ?? UNITS[5];
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  return format.format(-Math.floor(minutes / size), unit);
}

/** Kept, because making a format takes longer than rendering an entry. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(locale: Locale, timeZone: 'UTC' | undefined): Intl.DateTimeFormat {
  const key = `${locale} ${timeZone ?? ''}`;
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat(locale, timeZone === undefined ? FORMAT : { ...FORMAT, timeZone });
  formats.set(key, format);
  return format;
}
