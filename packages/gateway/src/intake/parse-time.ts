/** Parses dates and date-times in parameters (ISO 8601, RFC 3339). */

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const CLOCK = String.raw`(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?`;
/** A `+` that was not percent-encoded arrives as a space. */
const OFFSET = String.raw`(?:([Zz])|([-+ \u2212])(\d\d):?(\d\d)?)?`;
const TIME = new RegExp(`^${DATE}(?:[Tt ]${CLOCK}${OFFSET})?$`);

const MINUTE = 60_000;

/**
 * Milliseconds since 1970; undefined for anything else than a date or date-time. Without an offset
 * it is UTC. Rounded up, so that a time in whole milliseconds compares as with the exact time.
 */
export function parseTime(text: string): number | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(toNumber);
  const [fraction = '', , sign = '', hours, minutes] = parts.slice(7);
  const date = dateMs(year ?? 0, month ?? 0, day ?? 0);
  const clock = clockMs(hour ?? 0, minute ?? 0, second ?? 0);
  const offset = offsetMs(sign, toNumber(hours), toNumber(minutes));
  if (date === undefined || clock === undefined || offset === undefined) return undefined;
  return date + clock - offset + fractionMs(fraction);
}

function toNumber(digits: string | undefined): number {
  return Number(digits ?? 0);
}

function dateMs(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() : undefined;
}

/** A leap second counts as the second after it. */
function clockMs(hour: number, minute: number, second: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  return hour * 60 * MINUTE + minute * MINUTE + second * 1000;
}

function offsetMs(sign: string, hours: number, minutes: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  const offset = (hours * 60 + minutes) * MINUTE;
  return sign === '-' || sign === '\u2212' ? -offset : offset;
}

function fractionMs(fraction: string): number {
  const whole = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return /[1-9]/.test(fraction.slice(3)) ? whole + 1 : whole;
}
