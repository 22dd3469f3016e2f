/** Carries frames between gateways over core NATS, which stores nothing. */
import type { Cluster, StreamAddress } from '@open-presence/gateway/replica';
import type { NatsConnection } from '@nats-io/transport-node';

import { connectToServers } from './stream/stream.ts';

export function gateways(address: StreamAddress): ReturnType<Cluster['gateways']> {
  // Outside the subjects of the stream, which would store the frames.
  const subject = `${address.stream}-presence`;
  const ending = new AbortController();
  let connection: NatsConnection | undefined;
  let isConnected = false;
  const transport: ReturnType<Cluster['gateways']> = {
    // Without a connection, the client would collect frames in memory.
    send: (frame) => void (isConnected && connection?.publish(subject, frame)),
    onFrame: () => {},
    async [Symbol.asyncDispose]() {
      isConnected = false;
      ending.abort();
      await connection?.drain().catch(() => connection?.close());
      await running;
    },
  };
  const running = run();
  return transport;

  async function run(): Promise<void> {
    connection = await connectToServers(address, ending.signal);
    if (connection === undefined) return;
    if (ending.signal.aborted) return await connection.close();
    connection.subscribe(subject, { callback: (_, { data }) => transport.onFrame(data) });
    isConnected = true;
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') isConnected = false;
      if (type === 'reconnect') isConnected = true;
    }
  }
}
