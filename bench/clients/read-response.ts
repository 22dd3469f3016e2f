/**
 * Reads one response as fast as possible and discards it: `node read-response.ts URL`. A bare socket
 * with one buffer in its own process, so that the reader is not the bottleneck. Prints the result as
 * JSON; its `end` holds the last bytes, which show whether the response was complete.
 */
import { connect } from 'node:net';

const TAIL_BYTES = 64;
const url = new URL(process.argv[2] ?? '');
const buffer = Buffer.allocUnsafe(1 << 20);
let start = Buffer.alloc(0);
let end = Buffer.alloc(0);
let headBytes = 0;
let bytes = 0;

const startedAt = performance.now();
const socket = connect({
  host: url.hostname,
  port: Number(url.port),
  onread: {
    buffer,
    callback(length) {
      count(buffer.subarray(0, length));
      return true;
    },
  },
});
socket.write(
  `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`,
);
socket.on('end', () => {
  const seconds = (performance.now() - startedAt) / 1000;
  const status = Number(start.toString('latin1', 9, 12));
  const bodyBytes = bytes - headBytes;
  console.log(JSON.stringify({ status, bodyBytes, seconds, end: end.toString() }));
  socket.end();
});

function count(chunk: Buffer): void {
  bytes += chunk.length;
  if (headBytes === 0) {
    start = Buffer.concat([start, chunk]);
    const blank = start.indexOf('\r\n\r\n');
    if (blank >= 0) headBytes = blank + 4;
  }
  // A copy, since the buffer is reused.
  end = Buffer.concat([end, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
}
