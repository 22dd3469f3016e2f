/** Limits that a JSON text must keep before it is parsed into values. */
import { GatewayError } from '@open-presence/protocol';

import { JsonHandler, type ValueType } from './handler.ts';
import { JsonScanner } from './scanner.ts';

class DepthMeter extends JsonHandler {
  depth = 0;

  override startValue(type: ValueType, depth: number): boolean {
    const isNested = type === 'object' || type === 'array';
    if (isNested && depth >= this.depth) this.depth = depth + 1;
    return isNested;
  }
}

/** Whether objects and arrays are nested deeper than this, up to where the text stops being JSON. */
export function isDeeper(bytes: Uint8Array, max: number): boolean {
  // Each level takes two bytes at least, if all of them are closed.
  if (bytes.length <= max) return false;
  const meter = new DepthMeter();
  try {
    new JsonScanner(meter).feed(bytes);
  } catch (error) {
    // What follows is not JSON.
    if (!(error instanceof GatewayError)) throw error;
  }
  return meter.depth > max;
}
