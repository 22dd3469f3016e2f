/**
 * Readers of an event stream who never read: `node stall.ts URL COUNT`. Sends 0 when all are
 * connected, then keeps them until it is ended.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

/** More at once could overflow the queue in which the kernel keeps new connections. */
const CONNECTED_TOGETHER = 100;

const [address = '', count = ''] = process.argv.slice(2);
const url = new URL(address);
for (let left = Number(count); left > 0; left -= CONNECTED_TOGETHER) {
  const size = Math.min(CONNECTED_TOGETHER, left);
  await Promise.all(Array.from({ length: size }, stall));
}
process.send?.(0);

async function stall(): Promise<void> {
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  await once(socket, 'connect');
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
}
