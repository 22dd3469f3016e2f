/** The end of a connection whose caller may still be sending. */
import type { Duplex } from 'node:stream';

/** How long input is discarded before a caller that does not close is disconnected. */
const DISCARD_MS = 30_000;

/** Closing while bytes arrive would reset the connection, and the caller would lose the response. */
export function discardInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
