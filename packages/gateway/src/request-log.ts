/**
 * The log of requests: one line for each, when its response has ended. A line has nothing that a
 * visitor said: the path as its route is written, no parameters, and no address of the caller. A
 * proxy in front of the gateway knows that address and can log it; here nobody needs it.
 *
 * Each thread writes its own lines, so that one who reads them slowly holds up the requests instead
 * of making lines pile up in memory.
 */
import { destination, pino } from 'pino';

import type { FinishedRequest, RequestObserver } from './http/request-observer.ts';

export interface RequestLogOptions {
  /** The file descriptor that lines are written to. */
  readonly fd: number;
  /** `text`: for a terminal. */
  readonly format: 'json' | 'text';
}

/** A write of at most 4,096 bytes to a pipe is not mixed with those of other threads (`PIPE_BUF`). */
const GATHERED_SIZE = 3584;
const FLUSH_INTERVAL_MS = 200;

/** Disposing of it writes what was gathered. */
export class RequestLog implements Disposable {
  readonly observe: RequestObserver;
  readonly #target: ReturnType<typeof destination>;
  readonly #flushing: NodeJS.Timeout;

  constructor({ fd, format }: RequestLogOptions) {
    const target = destination({ fd, sync: true, minLength: GATHERED_SIZE });
    this.#target = target;
    const logger = pino(target);
    this.observe =
      format === 'text'
        ? (request) => void target.write(textLine(request))
        : (request) => logger.info(members(request), 'request');
    this.#flushing = setInterval(() => target.flushSync(), FLUSH_INTERVAL_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#flushing);
    this.#target.flushSync();
  }
}

function members(request: FinishedRequest): object {
  const { method, route, status, isStream, isAborted, durationMs, bytesSent } = request;
  return {
    method,
    path: route.path,
    door: route.door,
    status,
    bytes: bytesSent,
    ms: Math.round(durationMs * 1000) / 1000,
    ...(isStream ? { stream: true } : {}),
    ...(isAborted ? { aborted: true } : {}),
  };
}

function textLine(request: FinishedRequest): string {
  const { method, route, status, isStream, isAborted, durationMs, bytesSent } = request;
  const ending = `${isStream ? ', stream' : ''}${isAborted ? ', aborted' : ''}`;
  return `${method} ${route.path} ${status}, ${bytesSent} bytes, ${durationMs.toFixed(1)} ms${ending}\n`;
}
