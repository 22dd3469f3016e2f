/** A client that reads a response slowly and closes the connection before its end. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';

const INTERVAL_MS = 50;

/** Resolves with the number of bytes read. */
export async function readSlowly(
  bench: BenchContext,
  address: string,
  pace: { readonly bytesPerSecond: number; readonly seconds: number },
): Promise<number> {
  const url = new URL(address);
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
  });
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
  const until = performance.now() + pace.seconds * 1000;
  const budget = Math.ceil((pace.bytesPerSecond * INTERVAL_MS) / 1000);
  let bytes = 0;
  try {
    for (let due = performance.now(); due < until; due += INTERVAL_MS) {
      for (let left = budget; left > 0;) {
        const piece: unknown = socket.read(Math.min(left, socket.readableLength || 1));
        if (!Buffer.isBuffer(piece)) break;
        left -= piece.length;
        bytes += piece.length;
      }
      await sleep(Math.max(0, due + INTERVAL_MS - performance.now()), undefined, {
        signal: bench.signal,
      });
    }
  } finally {
    socket.destroy();
  }
  if (failure !== undefined) throw failure;
  return bytes;
}
