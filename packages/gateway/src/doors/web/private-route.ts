import type { DoorHandler, ProtocolDoor } from '../context.ts';

/** A path that only pages and browsers request: it is described to nobody. */
export function privateRoute(
  path: string,
  type: string,
  handle: DoorHandler,
): ProtocolDoor['routes'][number] {
  return { path, get: [{ type, handle }], description: { paths: [] } };
}
