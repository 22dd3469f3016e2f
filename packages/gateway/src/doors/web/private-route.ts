import type { DoorHandler, ProtocolDoor } from '../context.ts';

/** A path that only pages and browsers request: it is no part of the contract. */
export function privateRoute(
  path: string,
  type: string,
  handle: DoorHandler,
): ProtocolDoor['routes'][number] {
  return { path, get: [{ type, handle }] };
}
