/**
 * A thread that posts the script of the reference page, compressed as `workerData` says, and ends.
 * Its modules take 40 MB and a second to load: here they delay no request, and are freed again.
 */
import { parentPort, workerData } from 'node:worker_threads';

import plugin from '@scalar/fastify-api-reference';

import { compress } from '../../http/response/compression.ts';
import type { Encoding } from '../../http/negotiation.ts';

/** The parts of Fastify's route options and reply that the plugin uses to serve its script. */
interface PluginRoute {
  readonly url: string;
  readonly handler: (request: undefined, reply: PluginReply) => void;
}

interface PluginReply {
  header(): PluginReply;
  send(body: string): void;
}

type Plugin = (fastify: object, options: object, done: () => void) => void;

const script = Buffer.from(await readScript());
const encoding = workerData as Encoding | undefined;
parentPort?.postMessage(encoding === undefined ? script : await compress(encoding, script));

/** The package gives its script only to a Fastify instance, so this registers the plugin on one. */
async function readScript(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reply: PluginReply = { header: () => reply, send: resolve };
  const route = ({ url, handler }: PluginRoute): void => {
    if (url.endsWith('.js')) handler(undefined, reply);
  };
  const register = plugin as unknown as Plugin;
  register({ route }, { configuration: { url: '/' } }, () => {
    reject(new Error('@scalar/fastify-api-reference has no route for its script'));
  });
  return await promise;
}
