/**
 * Reads one answer as fast as it comes and forgets it: `node drain.ts URL`. A bare socket with one
 * buffer, in a process of its own, so that the reader is not what is measured. Says as JSON what
 * came; `end` is the last bytes, by which a whole answer can be told from one that broke off.
 */
import { connect } from 'node:net';

const KEPT = 64;
const url = new URL(process.argv[2] ?? '');
const buffer = Buffer.allocUnsafe(1 << 20);
let start = Buffer.alloc(0);
let end = Buffer.alloc(0);
let headBytes = 0;
let bytes = 0;

const began = performance.now();
const socket = connect({
  host: url.hostname,
  port: Number(url.port),
  onread: {
    buffer,
    callback(count) {
      take(buffer.subarray(0, count));
      return true;
    },
  },
});
socket.write(
  `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`,
);
socket.on('end', () => {
  const seconds = (performance.now() - began) / 1000;
  const status = Number(start.toString('latin1', 9, 12));
  const bodyBytes = bytes - headBytes;
  console.log(JSON.stringify({ status, bodyBytes, seconds, end: end.toString() }));
  socket.end();
});

function take(piece: Buffer): void {
  bytes += piece.length;
  if (headBytes === 0) {
    start = Buffer.concat([start, piece]);
    const blank = start.indexOf('\r\n\r\n');
    if (blank >= 0) headBytes = blank + 4;
  }
  // A copy: the next piece will overwrite this one.
  end = Buffer.concat([end, piece.subarray(-KEPT)]).subarray(-KEPT);
}
