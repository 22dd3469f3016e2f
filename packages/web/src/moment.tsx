/** A time as `<time>`: in UTC until the script runs, then in the visitor's own time zone. */
import type { Locale } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useShell } from './shell.ts';

const FORMAT = { dateStyle: 'medium', timeStyle: 'short' } as const;

/** Making a format takes longer than rendering an entry. */
const inUtc = new Map<Locale, Intl.DateTimeFormat>();

export function Moment({ timestamp }: { readonly timestamp: string }): VNode {
  const { locale } = useShell();
  const [isLocal, setLocal] = useState(false);
  useEffect(() => setLocal(true), []);
  const time = new Date(timestamp);
  const text = isLocal ? time.toLocaleString(locale, FORMAT) : utcFormat(locale).format(time);
  return <time dateTime={timestamp}>{text}</time>;
}

function utcFormat(locale: Locale): Intl.DateTimeFormat {
  const format =
    inUtc.get(locale) ?? new Intl.DateTimeFormat(locale, { ...FORMAT, timeZone: 'UTC' });
  inUtc.set(locale, format);
  return format;
}
