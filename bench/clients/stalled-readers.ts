/**
 * Readers of an event stream that never read: `node stalled-readers.ts URL COUNT`. Sends the message
 * 0 when all are connected, then holds the connections until it is terminated.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

/** More at once could overflow the kernel's accept queue. */
const CONNECT_BATCH = 100;

const [address = '', count = ''] = process.argv.slice(2);
const url = new URL(address);
for (let left = Number(count); left > 0; left -= CONNECT_BATCH) {
  const size = Math.min(CONNECT_BATCH, left);
  await Promise.all(Array.from({ length: size }, openStream));
}
process.send?.(0);

async function openStream(): Promise<void> {
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  await once(socket, 'connect');
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
}
