/** Limits that a JSON text must keep before it is parsed into values. */
import { nextTurn } from '../fair-turns.ts';
import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

/** Bytes that are read in one turn. */
const PIECE = 1024 * 1024;

class Counter extends JsonHandler {
  values = 0;
  depth = 0;
  /** Whether the last thing read was an opening bracket. */
  #isOpening = false;

  override startValue(type: ValueType, depth: number): boolean {
    this.values += 1;
    this.#isOpening = type === 'object' || type === 'array';
    if (this.#isOpening && depth >= this.depth) this.depth = depth + 1;
    return this.#isOpening;
  }

  override endValue(): void {
    if (this.#isOpening) this.values += 1;
    this.#isOpening = false;
  }
}

/**
 * Whether a text has more values than this, up to where it stops being JSON. An empty object or
 * array counts as two, because it takes the memory of several.
 */
export async function hasMoreValues(bytes: Uint8Array, max: number): Promise<boolean> {
  // Each value takes a byte at least.
  if (bytes.length <= max) return false;
  const counter = new Counter();
  const scanner = new JsonScanner(counter);
  try {
    for (let at = 0; at < bytes.length && counter.values <= max; at += PIECE) {
      if (at > 0) await nextTurn();
      scanner.feed(bytes.subarray(at, at + PIECE));
    }
  } catch {
    // What follows is not JSON.
  }
  return counter.values > max;
}

/** Whether objects and arrays are nested deeper than this, up to where the text stops being JSON. */
export function isDeeper(bytes: Uint8Array, max: number): boolean {
  // Each level takes two bytes at least, if all of them are closed.
  if (bytes.length <= max) return false;
  const counter = new Counter();
  try {
    new JsonScanner(counter).feed(bytes);
  } catch {
    // What follows is not JSON.
  }
  return counter.depth > max;
}
