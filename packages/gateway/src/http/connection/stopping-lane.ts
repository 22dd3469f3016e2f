/** Connections while the server stops: an exchange goes on as long as its caller does. */
import type { Lane } from '../fast/lane.ts';

/** A request may be on its way: a connection is idle after this time. */
const MAX_IDLE_MS = 50;
/** The same for a connection that has had no request: its caller would not repeat the first one. */
const MAX_IDLE_NEW_MS = 1000;
/** A caller that neither sends nor reads for this long is disconnected. */
const MAX_STALL_MS = 10_000;

export class StoppingLane {
  readonly #lane: Lane;
  /** Bytes that were read and sent, and since when nothing else was. */
  #moved = -1;
  #since = 0;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Call it again and again: it closes the connection when it is idle, or its caller has stalled. */
  closeIfSilent(): void {
    const { socket } = this.#lane;
    const { bytesRead, bytesWritten, writableLength } = socket;
    const moved = bytesRead + bytesWritten - writableLength;
    const now = performance.now();
    if (moved !== this.#moved || this.#maxSilence === Infinity) this.#since = now;
    this.#moved = moved;
    if (now - this.#since >= this.#maxSilence) socket.destroy();
  }

  get #maxSilence(): number {
    const { isResponding, isReceiving, socket } = this.#lane;
    const isWaiting = socket.writableLength > 0 || (isReceiving && !socket.isPaused());
    if (isWaiting || (socket.writableEnded && !socket.writableFinished)) return MAX_STALL_MS;
    if (isResponding) return Infinity;
    return socket.bytesRead === 0 ? MAX_IDLE_NEW_MS : MAX_IDLE_MS;
  }
}
