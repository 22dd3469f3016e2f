/** What a thread that serves HTTP has answered, and what is open in it. */
import { add, allocateCells, Buckets, type Cells, type HistogramValue } from './cells.ts';
import type { Sample } from './families.ts';

/** In seconds. */
export const DURATION_BUCKETS: Buckets = new Buckets([
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
]);

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'other'] as const;
const STATUSES = [
  200, 201, 202, 204, 206, 207, 301, 302, 303, 304, 307, 308, 400, 403, 404, 405, 406, 409, 410,
  411, 412, 415, 416, 417, 421, 422, 426, 428, 451, 499, 500, 501, 502, 503, 504, 507,
] as const;
const OTHER_STATUS = STATUSES.length;
const STATUS_INDEX: ReadonlyMap<number, number> = new Map(
  STATUSES.map((status, index) => [status, index]),
);
const ABORTED = STATUSES.length + 1;
const DURATION = STATUSES.length + 2;
/** Cells for each method of each route. */
const STRIDE = DURATION + DURATION_BUCKETS.size;

/** What is open, and all bytes until now. In the order of their cells. */
const OPEN = ['connections', 'streams', 'stalledStreams', 'bytesRead', 'bytesWritten'] as const;

export type HttpUsage = Readonly<Record<(typeof OPEN)[number], number>>;

/** A request whose response has ended. */
interface ObservedRequest {
  readonly method: string;
  readonly route: { readonly path: string };
  readonly status: number;
  readonly isStream: boolean;
  readonly isAborted: boolean;
  readonly durationMs: number;
}

/** The requests of one route and method. */
export interface RouteTotals {
  readonly route: string;
  readonly method: string;
  readonly statuses: readonly { readonly status: string; readonly count: number }[];
  readonly aborted: number;
  /** Without event streams. */
  readonly duration: HistogramValue;
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
  readonly #routeIndex: ReadonlyMap<string, number>;
  readonly #cells: Cells;

  /** `routes`: all that a request may have. */
  constructor(memory: SharedArrayBuffer, routes: readonly string[]) {
    this.#cells = new Float64Array(memory);
    this.#routes = routes;
    this.#routeIndex = new Map(routes.map((route, index) => [route, index]));
  }

  static allocate(routes: readonly string[]): SharedArrayBuffer {
    return allocateCells(OPEN.length + routes.length * METHODS.length * STRIDE);
  }

  record({ method, route, status, isStream, isAborted, durationMs }: ObservedRequest): void {
    const cells = this.#cells;
    const at = this.#at(this.#routeIndex.get(route.path) ?? 0, methodIndex(method));
    add(cells, at + (STATUS_INDEX.get(status) ?? OTHER_STATUS));
    if (isAborted) add(cells, at + ABORTED);
    if (!isStream) DURATION_BUCKETS.observe(cells, at + DURATION, durationMs / 1000);
  }

  set usage(usage: HttpUsage) {
    for (const [at, name] of OPEN.entries()) this.#cells[at] = usage[name];
  }

  get usage(): HttpUsage {
    const [connections = 0, streams = 0, stalledStreams = 0, bytesRead = 0, bytesWritten = 0] =
      this.#cells;
    return { connections, streams, stalledStreams, bytesRead, bytesWritten };
  }

  /** The counts of several threads with the same routes, added up: one for each route and method, in order. */
  static *totals(threads: readonly HttpMetrics[]): Generator<RouteTotals, void, undefined> {
    const [first] = threads;
    if (first === undefined) return;
    const cells: Cells = new Float64Array(HttpMetrics.allocate(first.#routes));
    for (const thread of threads)
      for (const [at, value] of thread.#cells.entries()) add(cells, at, value);
    for (const [routeIndex, route] of first.#routes.entries()) {
      for (const [index, method] of METHODS.entries()) {
        const at = first.#at(routeIndex, index);
        const statuses = [...STATUSES, 'other'].map((status, offset) => {
          return { status: String(status), count: cells[at + offset] ?? 0 };
        });
        const duration = DURATION_BUCKETS.read(cells, at + DURATION);
        yield { route, method, statuses, aborted: cells[at + ABORTED] ?? 0, duration };
      }
    }
  }

  #at(route: number, method: number): number {
    return OPEN.length + (route * METHODS.length + method) * STRIDE;
  }
}

function methodIndex(method: string): number {
  const index = (METHODS as readonly string[]).indexOf(method);
  return index === -1 ? METHODS.length - 1 : index;
}

export function* requestSamples(totals: Iterable<RouteTotals>): Generator<Sample<number>> {
  for (const { method, route, statuses } of totals)
    for (const { status, count } of statuses)
      if (count > 0) yield [{ method, route, status }, count];
}

export function* abortedSamples(totals: Iterable<RouteTotals>): Generator<Sample<number>> {
  for (const { method, route, aborted } of totals)
    if (aborted > 0) yield [{ method, route }, aborted];
}

export function* durationSamples(totals: Iterable<RouteTotals>): Generator<Sample<HistogramValue>> {
  for (const { method, route, duration } of totals)
    if ((duration.cumulative.at(-1) ?? 0) > 0) yield [{ method, route }, duration];
}
