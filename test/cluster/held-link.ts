/**
 * A way to a NATS server on which messages can be held: what the server sends waits until it is let
 * through. A gateway behind it hears of nothing meanwhile, as over a link that has become slow.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const PORTS = [4222, 8222];

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export interface HeldLink extends AsyncDisposable {
  /** For `--log`. */
  readonly url: string;
  hold(): void;
  release(): void;
}

/** `address`: of the server, `HOST:4222`. */
export async function linkTo(address: string): Promise<HeldLink> {
  const { hostname: target } = new URL(`nats://${address}`);
  const host = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
  const pairs = new Set<Pair>();
  let isHeld = false;
  const listen = async (port: number): Promise<Server> => {
    const listener = createServer((client) => {
      const server = connect(port, target);
      const pair = { client, server };
      pairs.add(pair);
      client.pipe(server);
      if (!isHeld) server.pipe(client);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const)
        one
          .on('error', () => {})
          .once('close', () => {
            other.destroy();
            pairs.delete(pair);
          });
    }).listen(port, host);
    await once(listener, 'listening');
    return listener;
  };
  const listeners = await Promise.all(PORTS.map(listen));
  return {
    url: `nats://${host}:4222`,
    hold() {
      isHeld = true;
      for (const { client, server } of pairs) server.unpipe(client);
    },
    release() {
      isHeld = false;
      for (const { client, server } of pairs) server.pipe(client);
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of pairs) client.destroy();
      for (const listener of listeners) listener.close();
    },
  };
}
