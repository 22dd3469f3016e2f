/** Connects a listener to the metrics of its thread and to the log of requests, where they are on. */
import type { HttpListener } from './http/http-listener.ts';
import type { RequestObserver } from './http/request-observer.ts';
import type { DoorContext } from './doors/context.ts';
import { HttpMetrics } from './metrics/http-metrics.ts';
import { recordUsage } from './metrics/thread-usage.ts';
import { RequestLog, type RequestLogOptions } from './request-log.ts';

/** What a thread that serves HTTP is given to record. */
export interface ObservationOptions {
  readonly metrics: HttpMetricsMemory | undefined;
  /** The format of the log of requests; undefined where there is none. */
  readonly requestLog: RequestLogOptions['format'] | undefined;
}

export interface HttpMetricsMemory {
  readonly usage: SharedArrayBuffer;
  readonly http: SharedArrayBuffer;
  readonly routes: readonly string[];
}

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
    this.observe = both(
      this.#metrics && ((request) => this.#metrics?.record(request)),
      log?.observe,
    );
  }

  /** To be called once the listener listens: records what is open in it, once a second. */
  watch(listener: HttpListener<DoorContext>): void {
    const [memory, metrics] = [this.#memory, this.#metrics];
    if (memory === undefined || metrics === undefined) return;
    this.#opened.use(
      recordUsage(memory.usage, () => {
        metrics.usage = listener.usage();
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#opened.dispose();
  }
}

function both(
  first: RequestObserver | undefined,
  second: RequestObserver | undefined,
): RequestObserver | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (request) => {
    first(request);
    second(request);
  };
}
