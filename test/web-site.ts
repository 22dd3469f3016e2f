/** A web server of somebody else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

export interface WebSite extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** Answers as the listener does, or with one page at every path. Disposal cuts its connections. */
export async function serve(answer: RequestListener | string, port = 0): Promise<WebSite> {
  const listener: RequestListener =
    typeof answer !== 'string'
      ? answer
      : (_, response) =>
          void response.setHeader('Content-Type', 'text/html; charset=utf-8').end(answer);
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
