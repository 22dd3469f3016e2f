/** Responses as they are written to a socket, with the headers that `node:http` writes. */
import { headerLines } from '../response/headers.ts';
import type { CachedResponse } from '../response/response-cache.ts';

/** The `Date` of a response, the same within a second. */
let date = '';
let dateSecond = 0;

/** A response after which the connection stays open, with the headers of `node:http`. */
export function rawResponse(status: string, headers: string, text: string): string {
  return `HTTP/1.1 ${status}\r\n${headers}Date: ${dateNow()}\r\nConnection: keep-alive\r\n\r\n${text}`;
}

function dateNow(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}

interface WrittenResponse {
  readonly date: string;
  readonly bytes: Buffer;
}

/** What was written last of each response: within a second it is the same. */
const written = new WeakMap<CachedResponse, WrittenResponse>();

/** The same for a response from the cache, with the status 200. */
export function rawCached(cached: CachedResponse): Buffer {
  const last = written.get(cached);
  if (last?.date === dateNow()) return last.bytes;
  const head = rawResponse('200 OK', headerLines(cached.headers), '');
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), cached.body]);
  written.set(cached, { date: dateNow(), bytes });
  return bytes;
}
