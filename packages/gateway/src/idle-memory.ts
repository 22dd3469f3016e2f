/** Gives the memory of work that is over back to the system, and that of buffers as they come and go. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { type Context, createContext, runInContext } from 'node:vm';

const CHECK_INTERVAL_MS = 5000;
/** A thread that used less of the time since the last check is idle. */
const IDLE_UTILIZATION = 0.1;
/** What a thread may hold beyond its last collection, in bytes, and as a factor. */
const SLACK = 8 * 1024 * 1024;
const FACTOR = 1.25;

/** Bytes that this thread has released since its last collection, as reported to `noteReleased`. */
let released = 0;

/** Without this, nothing would be collected where much is let go of and little is allocated. */
export function noteReleased(bytes: number): void {
  released += bytes;
}

/**
 * Collects when the thread becomes idle. V8 collects only while memory is allocated, and would keep a burst's
 * garbage until the next burst.
 */
export function collectGarbageWhenIdle(): Disposable {
  let collected = 0;
  let least = Number.POSITIVE_INFINITY;
  let last = performance.eventLoopUtilization();
  return setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const expected = Math.max(collected - released, Math.min(least, collected));
    if (utilization > IDLE_UTILIZATION || heldBytes() < FACTOR * expected + SLACK) return;
    collectGarbage();
    collected = heldBytes();
    least = Math.min(least, collected);
    released = 0;
  }, CHECK_INTERVAL_MS).unref();
}

function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

/** Collects until nothing more comes free, and gives empty pages back. */
function collectGarbage(): void {
  collect(`{ type: 'major', flavor: 'last-resort' }`, collectorContext());
}

/** Kept by threads that take large bodies: an idle one would have it for nothing. */
let contextForBuffers: Context | undefined;

/** Frees short-lived buffers: V8 hardly counts them, and lets some 64 MB gather that the process then keeps. */
export function collectBuffers(): void {
  contextForBuffers ??= collectorContext();
  collect(`{ type: 'minor' }`, contextForBuffers);
}

function collect(options: string, context: Context): void {
  runInContext(`gc(${options})`, context);
}

/** Node offers the collector in contexts that are created after the flag was set. */
function collectorContext(): Context {
  setFlagsFromString('--expose-gc');
  return createContext();
}
