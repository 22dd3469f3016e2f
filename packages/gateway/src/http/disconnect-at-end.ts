/** Callers that have ended their half of a connection: gone, or with nothing more to send. */
import type { ServerResponse } from 'node:http';

/**
 * How long a request that takes its time is worked on after its caller has ended its half of the
 * connection: most callers that do so are gone, and some only have nothing more to send.
 */
export const HALF_CLOSED_MS = 2000;

/** Disconnects a caller when it has ended its half of the connection, or `afterMs` later. */
export function disconnectAtEnd(response: ServerResponse, afterMs = 0): void {
  const { socket } = response;
  if (socket === null) return;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => response.destroy(), afterMs).unref();
  };
  if (socket.readableEnded) end();
  else socket.once('end', end);
  response.once('close', () => {
    socket.off('end', end);
    clearTimeout(timer);
  });
}
