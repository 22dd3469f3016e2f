/** A time as `<time>`, in UTC. The script turns it into the visitor's own time zone, or into how long ago it was. */
import type { VNode } from 'preact';

import { useShell } from './shell.ts';

interface MomentProps {
  readonly timestamp: string;
  /** Shows how much time has passed, once the script runs. */
  readonly relative?: boolean;
}

/** Kept, because making a format takes longer than rendering an entry. */
const FORMATS = { uk: formatIn('uk'), en: formatIn('en') };

export function Moment({ timestamp, relative = false }: MomentProps): VNode {
  const { locale } = useShell();
  return (
    <time dateTime={timestamp} {...(relative && { 'data-relative': '' })}>
      {FORMATS[locale].format(new Date(timestamp))}
      <span class="without-script"> UTC</span>
    </time>
  );
}

function formatIn(locale: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
}
