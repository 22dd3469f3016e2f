/** What a thread that serves HTTP has answered. */
import { add, allocateCells, Buckets, type Cells, type HistogramValue } from './cells.ts';
import type { Sample } from './families.ts';

/** In seconds. */
export const DURATION_BUCKETS: Buckets = new Buckets([
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
]);

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'other'] as const;
const STATUSES = [
  '200 201 202 204 206 207 301 302 303 304 307 308 400 403 404 405 406 409 410 411 412 415 416',
  '417 421 422 426 428 451 499 500 501 502 503 504 507 other',
]
  .join(' ')
  .split(' ');

const STREAMS = 0;
const DURATION = 1;
/** One cell for each status of each method of each route. */
const REQUESTS = DURATION + DURATION_BUCKETS.size;

/** A request whose response has ended. */
interface ObservedRequest {
  readonly method: string;
  readonly route: { readonly path: string };
  readonly status: number;
  readonly isStream: boolean;
  readonly durationMs: number;
}

/** What a thread is given to count in. */
export interface HttpMetricsMemory {
  readonly usage: SharedArrayBuffer;
  readonly http: SharedArrayBuffer;
  /** The paths that requests may have, for all threads the same. */
  readonly routes: readonly string[];
}

export class HttpMetrics {
  readonly #routes: readonly string[];
  readonly #cells: Cells;

  /** `routes`: all that a request may have. */
  constructor(memory: SharedArrayBuffer, routes: readonly string[]) {
    this.#cells = new Float64Array(memory);
    this.#routes = routes;
  }

  static allocate(routes: readonly string[]): SharedArrayBuffer {
    return allocateCells(REQUESTS + routes.length * METHODS.length * STATUSES.length);
  }

  /** What threads with the same routes have counted together. */
  static sum(threads: readonly HttpMetrics[]): HttpMetrics {
    const [routes = []] = threads.map((thread) => thread.#routes);
    const sum = new HttpMetrics(HttpMetrics.allocate(routes), routes);
    for (const thread of threads)
      for (const [at, value] of thread.#cells.entries()) add(sum.#cells, at, value);
    return sum;
  }

  record({ method, route, status, isStream, durationMs }: ObservedRequest): void {
    const at = indexIn(this.#routes, route.path) * METHODS.length + indexIn(METHODS, method);
    add(this.#cells, REQUESTS + at * STATUSES.length + indexIn(STATUSES, String(status)));
    if (!isStream) DURATION_BUCKETS.observe(this.#cells, DURATION, durationMs / 1000);
  }

  /** How many event streams are open. */
  set streams(count: number) {
    this.#cells[STREAMS] = count;
  }

  get streams(): number {
    return this.#cells[STREAMS] ?? 0;
  }

  /** Without event streams. */
  get durations(): HistogramValue {
    return DURATION_BUCKETS.read(this.#cells, DURATION);
  }

  *requests(): Generator<Sample<number>> {
    for (const [at, count] of this.#cells.subarray(REQUESTS).entries()) {
      if (count === 0) continue;
      const labels = {
        method: METHODS[Math.floor(at / STATUSES.length) % METHODS.length] ?? '',
        route: this.#routes[Math.floor(at / STATUSES.length / METHODS.length)] ?? '',
        status: STATUSES[at % STATUSES.length] ?? '',
      };
      yield [labels, count];
    }
  }
}

/** The last one stands for all others. */
function indexIn(values: readonly string[], value: string): number {
  const index = values.indexOf(value);
  return index === -1 ? values.length - 1 : index;
}
