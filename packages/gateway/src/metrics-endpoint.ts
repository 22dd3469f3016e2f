/**
 * Where Prometheus asks for metrics: an address of its own. The code that prints them is loaded only if somebody
 * wants them.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { createServer } from './http/connection/node-http.ts';
import type { GatewayMetrics, GaugeSources } from './metrics/gateway-metrics.ts';

const PATH = '/metrics';
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsAddress {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** Disposing of it stops the endpoint. */
export interface StartedMetrics extends AsyncDisposable {
  readonly counted: GatewayMetrics;
  /** `http://127.0.0.1:7411/metrics` */
  readonly url: string;
}

/** Rejects where it cannot listen at that address. */
export async function startMetrics(
  { host, port }: MetricsAddress,
  sources: GaugeSources,
): Promise<StartedMetrics> {
  const { GatewayMetrics } = await import('./metrics/gateway-metrics.ts');
  const counted = new GatewayMetrics(sources);
  const server = createServer((request, response) => {
    respond(counted, request, response).catch((error: unknown) => {
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${String(error)}\n`);
    });
  });
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot serve metrics on ${host}, port ${port}: ${reason}. Choose another address with --metrics or PRESENCE_METRICS.`,
      { cause: error },
    );
  }
  const address = server.address();
  const listening = typeof address === 'object' ? address : null;
  const name = listening?.family === 'IPv6' ? `[${listening.address}]` : listening?.address;
  return {
    counted,
    url: `http://${name}:${listening?.port}${PATH}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  metrics: GatewayMetrics,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = url.split('?', 1);
  if (path !== PATH) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`Metrics are at ${PATH}.\n`);
    return;
  }
  const text = method === 'HEAD' ? '' : await metrics.print();
  response.writeHead(200, { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' });
  response.end(text);
}
