/** Asks the gateway that runs on a data folder, through its socket (see `control-server.ts`). */
import type { IncomingMessage } from 'node:http';

import { request } from '../http/connection/node-http.ts';
import { type JsonObject, toJsonObject } from '../json/json-object.ts';
import { openSocketPath } from './socket-path.ts';

/** The system's codes where no gateway listens. */
const NOBODY: readonly unknown[] = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK'];

/** Whether a gateway listens there. Throws where it is another user's. */
export async function hasGateway(folder: string): Promise<boolean> {
  const response = await post(folder, '/', {}).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && NOBODY.includes(error.code)) return undefined;
    throw error;
  });
  response?.destroy();
  return response !== undefined;
}

/** Yields what the gateway answers. Throws what it refuses, and where it breaks off. */
export async function* askGateway(
  folder: string,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const response = await post(folder, path, body, signal);
  response.setEncoding('utf8');
  let rest = '';
  for await (const chunk of response) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = toJsonObject(JSON.parse(line));
      if (typeof event['error'] === 'string') throw new Error(event['error']);
      yield event;
    }
  }
}

async function post(
  folder: string,
  path: string,
  body: JsonObject,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  await using socket = await openSocketPath(folder);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { socketPath: socket.path, method: 'POST', path, agent: false, signal };
  request(options, resolve).once('error', reject).end(JSON.stringify(body));
  return await promise;
}
