/**
 * Callers that have ended their half of a connection. Most are gone; some only have nothing more to send, and
 * their requests are answered. Requests that wait, that search for long or that never end are given up.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A response to such a caller that has nothing to send for this long is given up. */
const SILENCE_MS = 2000;

/** For a response that never ends. */
export function disconnectAtEnd(response: ServerResponse): void {
  atEnd(response, () => response.destroy());
}

/**
 * For a response that may take long. While it is being sent, a caller that has left ends it anyway. `onEnd` is called
 * when the caller ends its half.
 */
export function disconnectSilentAtEnd(response: ServerResponse, onEnd: () => void): void {
  atEnd(response, (socket) => {
    onEnd();
    let sent = socket.bytesWritten;
    const timer = setInterval(() => {
      if (socket.bytesWritten === sent && socket.writableLength === 0) response.destroy();
      sent = socket.bytesWritten;
    }, SILENCE_MS).unref();
    response.once('close', () => clearInterval(timer));
  });
}

function atEnd(response: ServerResponse, action: (socket: Socket) => void): void {
  const { socket } = response;
  if (socket === null) return;
  if (socket.readableEnded) {
    action(socket);
    return;
  }
  const end = (): void => action(socket);
  socket.once('end', end);
  response.once('close', () => socket.off('end', end));
}
