/** A gateway that is killed again and again, and a proxy that cuts connections at random bytes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

/** Of a server that listens. */
export function portOf(server: Server): number {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

/** Forwards to `target` until it has forwarded a random number of bytes, then cuts. */
export class CuttingProxy implements AsyncDisposable {
  /** Where connections lead now; undefined: none is accepted. */
  target: string | undefined;
  cuts = 0;
  readonly #server: Server;
  readonly #longest: number;

  /** `longest`: a connection is cut before it has had this many bytes. */
  constructor(longest: number) {
    this.#longest = longest;
    this.#server = createServer((socket) => this.#forward(socket));
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }

  #forward(caller: Socket): void {
    caller.on('error', () => {});
    if (this.target === undefined) {
      caller.destroy();
      return;
    }
    const gateway = connect(Number(new URL(this.target).port), '127.0.0.1');
    gateway.on('error', () => caller.destroy());
    let left = Math.floor(Math.random() * this.#longest);
    for (const [from, to] of [
      [caller, gateway],
      [gateway, caller],
    ] as const) {
      from.on('close', () => to.destroy());
      from.on('data', (chunk: Buffer) => {
        to.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left > 0) return;
        this.cuts += 1;
        // What was forwarded still arrives.
        to.end(() => from.destroy());
      });
    }
  }
}

/** Killed by `restart`, and started again over the same folder. */
export class KilledGateway implements AsyncDisposable {
  readonly #data: string;
  readonly #proxy: CuttingProxy;
  #process: GatewayProcess | undefined;

  constructor(data: string, proxy: CuttingProxy) {
    this.#data = data;
    this.#proxy = proxy;
  }

  async start(): Promise<void> {
    this.#process = await startGatewayProcess({ data: this.#data });
    this.#proxy.target = this.#process.url;
  }

  async restart(): Promise<void> {
    await this.#process?.kill();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
  }
}
