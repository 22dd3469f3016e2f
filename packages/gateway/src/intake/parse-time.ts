/** Parses dates and date-times in parameters (ISO 8601, RFC 3339). */

const DATE = String.raw`(\d{4}-\d\d-\d\d)`;
const HOUR = String.raw`([01]\d|2[0-3])`;
const CLOCK = String.raw`${HOUR}:([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d+))?)?`;
/** A `+` that was not percent-encoded arrives as a space. */
const OFFSET = String.raw`(?:[Zz]|([-+ \u2212])${HOUR}:?([0-5]\d)?)?`;
const TIME = new RegExp(`^${DATE}(?:[Tt ]${CLOCK}${OFFSET})?$`);

/** In ms since 1970, rounded up; UTC without an offset. A leap second counts as the following second. */
export function parseTime(text: string): number | undefined {
  const [, date = '', ...parts] = TIME.exec(text) ?? [];
  const day = Date.parse(date);
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return undefined;
  const [hour = 0, minute = 0, second = 0, fraction = '', sign = '', hours = 0, minutes = 0] =
    parts;
  const offset =
    (Number(hours) * 60 + Number(minutes)) * (sign === '-' || sign === '\u2212' ? -1 : 1);
  const seconds = (Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second);
  const roundedUp = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  return day + seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0')) + roundedUp;
}
