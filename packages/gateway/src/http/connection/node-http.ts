/**
 * The parts of `node:http` that are used. An `import` of that module reads all its exports, and some of them
 * load Node's HTTP client and HTTP/2: 7 MB in each thread. Import only types from it.
 */
import type * as NodeHttp from 'node:http';
import { createRequire } from 'node:module';

const nodeHttp = createRequire(import.meta.url)('node:http') as typeof NodeHttp;

export const {
  createServer,
  IncomingMessage,
  request,
  ServerResponse,
  STATUS_CODES,
}: typeof NodeHttp = nodeHttp;
