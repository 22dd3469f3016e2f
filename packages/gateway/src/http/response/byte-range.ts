/** Range requests (RFC 9110 section 14) for one range of bytes of a response that has a strong tag. */
import type { IncomingMessage } from 'node:http';

export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const RANGE = /^bytes=\s*(\d*)-(\d*)\s*$/i;

/**
 * The range that a `GET` requests of a response with this size and tag; `unsatisfiable` if it starts
 * beyond the end. Undefined for the whole: for several ranges, for ranges that cannot be read, and if
 * `If-Range` names another tag.
 */
export function requestedRange(
  { method, headers }: IncomingMessage,
  size: number,
  tag: string,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = RANGE.exec(headers.range ?? '') ?? [];
  if (method !== 'GET' || (first === '' && last === '')) return undefined;
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== tag) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  if (start >= size) return 'unsatisfiable';
  return { start, end: first === '' || last === '' ? size : Math.min(size, Number(last) + 1) };
}
