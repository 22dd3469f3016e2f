/** For how long a thread has been busy. */
import { performance } from 'node:perf_hooks';

import { allocateCells, type Cells } from './cells.ts';

const SAMPLE_MS = 1000;

export function allocateUsage(): SharedArrayBuffer {
  return allocateCells(1);
}

/** To be called in the thread: records until it is disposed of. Calls back each time. */
export function recordUsage(memory: SharedArrayBuffer, onSample = (): void => {}): Disposable {
  const cells: Cells = new Float64Array(memory);
  const sample = (): void => {
    cells[0] = performance.eventLoopUtilization().active / 1000;
    onSample();
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** For how many seconds the event loop has not waited for events. */
export function readBusySeconds(memory: SharedArrayBuffer): number {
  return new Float64Array(memory)[0] ?? 0;
}
