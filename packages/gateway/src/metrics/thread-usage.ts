/** What a thread uses of processor and memory, and how late its event loop is. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

import { allocateCells, Buckets, type Cells, type HistogramValue } from './cells.ts';

/** In seconds. */
export const DELAY_BUCKETS: Buckets = new Buckets([
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]);

const HEAP = 0;
const EXTERNAL = 1;
const BUSY = 2;
const DELAY = 3;

const TICK_MS = 50;
const TICKS_PER_SAMPLE = 20;

export interface ThreadUsage {
  /** Bytes of live JavaScript objects, and of garbage not yet collected. */
  readonly heap: number;
  /** Bytes outside of the heap that objects own: buffers, mostly. */
  readonly external: number;
  /** For how many seconds the event loop has not waited for events. */
  readonly busy: number;
  /** By how many seconds timers were late. */
  readonly delay: HistogramValue;
}

export function allocateUsage(): SharedArrayBuffer {
  return allocateCells(DELAY + DELAY_BUCKETS.size);
}

/** To be called in the thread: records until it is disposed of. Calls back once a second. */
export function recordUsage(memory: SharedArrayBuffer, onSample = (): void => {}): Disposable {
  const cells: Cells = new Float64Array(memory);
  const sample = (): void => {
    const { used_heap_size, external_memory } = getHeapStatistics();
    cells[HEAP] = used_heap_size;
    cells[EXTERNAL] = external_memory;
    cells[BUSY] = performance.eventLoopUtilization().active / 1000;
    onSample();
  };
  sample();
  let ticks = 0;
  let expected = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    DELAY_BUCKETS.observe(cells, DELAY, Math.max(0, now - expected) / 1000);
    expected = now + TICK_MS;
    ticks += 1;
    if (ticks % TICKS_PER_SAMPLE === 0) sample();
  }, TICK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export function readUsage(memory: SharedArrayBuffer): ThreadUsage {
  const cells: Cells = new Float64Array(memory);
  return {
    heap: cells[HEAP] ?? 0,
    external: cells[EXTERNAL] ?? 0,
    busy: cells[BUSY] ?? 0,
    delay: DELAY_BUCKETS.read(cells, DELAY),
  };
}
