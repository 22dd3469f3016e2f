/** Presence over core NATS, which stores nothing. */
import type { MessagePort } from 'node:worker_threads';

import type { NatsConnection } from '@nats-io/transport-node';

import { type GatewayTransport, OtherGateways } from './presence/other-gateways.ts';

export interface ClusterPresenceOptions {
  /** Keeps trying until it is connected; undefined if aborted. */
  readonly connect: (signal: AbortSignal) => Promise<NatsConnection | undefined>;
  /** Gateways that share it share who is present. No stream may store what is published there. */
  readonly subject: string;
  /** Of the hub of this gateway's threads. */
  readonly port: MessagePort;
  readonly leaseMs?: number;
}

/** Connects in the background: without a server, each gateway knows its own visitors alone. */
export function shareClusterPresence(options: ClusterPresenceOptions): AsyncDisposable {
  const { connect, subject, port, leaseMs } = options;
  const ending = new AbortController();
  let connection: NatsConnection | undefined;
  let isConnected = false;
  const transport: GatewayTransport = {
    // The client would collect what it cannot send.
    send: (frame) => void (isConnected && connection?.publish(subject, frame)),
    onFrame: () => {},
  };
  const gateways = new OtherGateways(port, transport, leaseMs);
  const running = run();

  return {
    async [Symbol.asyncDispose]() {
      gateways[Symbol.dispose]();
      isConnected = false;
      ending.abort();
      await connection?.drain().catch(() => connection?.close());
      await running;
    },
  };

  async function run(): Promise<void> {
    connection = await connect(ending.signal);
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
