/**
 * The log of requests: one line for each, when its response has ended. A line has nothing that a
 * visitor said: the path as its route is written, no parameters, and no address of the caller. A
 * proxy in front of the gateway knows that address and can log it; here nobody needs it.
 *
 * Lines are gathered, and handed over whole: whoever takes them must not make the requests wait.
 */
import { pino } from 'pino';

import type { DoorContext } from './doors/context.ts';
import type { HttpListener } from './http/http-listener.ts';
import type { FinishedRequest, RequestObserver } from './http/request-observer.ts';
import { HttpMetrics, type HttpMetricsMemory } from './metrics/http-metrics.ts';
import { recordUsage } from './metrics/thread-usage.ts';

export interface RequestLogOptions {
  /** Takes whole lines. Must return at once and never throw: lines that cannot be written are lost. */
  readonly write: (lines: string) => void;
  /** `text`: for a terminal. */
  readonly format: 'json' | 'text';
}

const GATHERED_LENGTH = 16_384;
const FLUSH_AFTER_MS = 200;

/** Disposing of it hands over what was gathered. */
class RequestLog implements Disposable {
  readonly observe: RequestObserver;
  readonly #write: RequestLogOptions['write'];
  #gathered = '';
  #flushing: NodeJS.Timeout | undefined;

  constructor({ write, format }: RequestLogOptions) {
    this.#write = write;
    const logger = pino({}, { write: (line) => this.#gather(line) });
    this.observe =
      format === 'text'
        ? (request) => this.#gather(textLine(request))
        : (request) => logger.info(members(request), 'request');
  }

  #gather(line: string): void {
    this.#gathered += line;
    if (this.#gathered.length >= GATHERED_LENGTH) this.#flush();
    else this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_AFTER_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    const lines = this.#gathered;
    this.#gathered = '';
    if (lines !== '') this.#write(lines);
  }

  [Symbol.dispose](): void {
    this.#flush();
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

/** What a thread that serves HTTP is given to record. */
export interface ObservationOptions {
  readonly metrics: HttpMetricsMemory | undefined;
  /** The format of the log of requests; undefined where there is none. */
  readonly requestLog: RequestLogOptions['format'] | undefined;
}

/** Connects a listener to the metrics of its thread and to the log of requests, where they are on. */
export class HttpObservation implements Disposable {
  /** To be called with each request; undefined where nothing is recorded. */
  readonly observe: RequestObserver | undefined;
  readonly #opened = new DisposableStack();
  readonly #memory: HttpMetricsMemory | undefined;
  readonly #metrics: HttpMetrics | undefined;

  /** `write`: takes the lines of the log of requests. */
  constructor(
    { metrics: memory, requestLog: format }: ObservationOptions,
    write: RequestLogOptions['write'],
  ) {
    this.#memory = memory;
    this.#metrics = memory && new HttpMetrics(memory.http, memory.routes);
    const log = format && this.#opened.use(new RequestLog({ write, format }));
    const metrics = this.#metrics;
    if (metrics === undefined && log === undefined) return;
    this.observe = (request) => {
      metrics?.record(request);
      log?.observe(request);
    };
  }

  /** To be called once the listener listens: counts its open event streams, once a second. */
  watch(listener: HttpListener<DoorContext>): void {
    const [memory, metrics] = [this.#memory, this.#metrics];
    if (memory === undefined || metrics === undefined) return;
    this.#opened.use(
      recordUsage(memory.usage, () => {
        metrics.streams = listener.usage().streams;
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#opened.dispose();
  }
}
