/** Connections while the server stops: an exchange goes on as long as its caller does. */
import type { Connection } from './connection.ts';

/** A request may be on its way: a connection is idle after this time. */
const MAX_IDLE_MS = 50;
/** The same for a connection that has had no request: its caller would not repeat the first one. */
const MAX_IDLE_NEW_MS = 1000;
/** A caller that neither sends nor reads for this long is disconnected. */
const MAX_STALL_MS = 10_000;

export class ClosingConnection {
  readonly #connection: Connection;
  /** Bytes that were read and sent, and since when. */
  #moved = -1;
  #movedAt = 0;
  /** Bytes that were read when it was idle last, and since when it is. */
  #idleAfter = -1;
  #idleSince = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Call it again and again: it closes the connection when it is idle, or its caller has stalled. */
  closeIfSilent(): void {
    const now = performance.now();
    const { socket } = this.#connection;
    const isOpen = socket.writable || socket.writableFinished;
    const maxIdle = socket.bytesRead === 0 ? MAX_IDLE_NEW_MS : MAX_IDLE_MS;
    const isIdle = isOpen && this.#idleFor(now) >= maxIdle;
    if (isIdle || this.#stalledFor(now) > MAX_STALL_MS) socket.destroy();
  }

  /** For how many milliseconds the caller should have sent or read something, and did not. */
  #stalledFor(now: number): number {
    const { socket, isReceiving } = this.#connection;
    const { bytesRead, bytesWritten, writableLength } = socket;
    const moved = bytesRead + bytesWritten - writableLength;
    const isExpected = writableLength > 0 || (isReceiving && !socket.isPaused());
    if (!isExpected || moved !== this.#moved) {
      this.#moved = moved;
      this.#movedAt = now;
    }
    return now - this.#movedAt;
  }

  /** For how many milliseconds there has been nothing to answer, and nothing has come. */
  #idleFor(now: number): number {
    const { socket, isResponding } = this.#connection;
    const { bytesRead } = socket;
    if (isResponding || bytesRead !== this.#idleAfter) {
      this.#idleAfter = bytesRead;
      this.#idleSince = now;
    }
    return now - this.#idleSince;
  }
}
