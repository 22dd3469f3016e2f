/**
 * Answers to what is not HTTP, or not HTTP/1.1 as RFC 9112 wants it: written by hand, because
 * Node has no request to answer then.
 */
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import {
  GatewayError,
  type Language,
  localize,
  MAX_HEADER_SIZE,
  problemDocument,
  SERVICE_LINK_HEADER,
  statusOf,
} from '@open-presence/protocol';

import { jsonBody } from './response.ts';
import { COMMON_HEADERS, NO_STORE, type Headers } from './headers.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { methodNotAllowed } from './router.ts';

/** What Node tells of bytes that it cannot read. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** How many of its bytes could be read. */
  readonly bytesParsed?: number;
}

/** The paths that there are. */
interface Paths {
  methodsAt(url: string): readonly string[];
  notFound(url: string): GatewayError;
}

/** How long to go on listening to a caller that has been answered and should leave. */
const LINGER_MS = 30_000;

/** Answers bytes that could not be read, and closes the connection. */
export function respondToMalformed(
  error: ClientError,
  socket: Duplex,
  language: Language,
  paths: Paths,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { problem, headers } = problemOf(error, paths);
  const title = localize(language.errors[problem.code], undefined);
  const body = jsonBody(problemDocument(problem, title));
  const status = statusOf(problem.code);
  const lines = Object.entries({
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(body.length),
    Connection: 'close',
    ...SERVICE_LINK_HEADER,
    ...headers,
    ...NO_STORE,
    ...COMMON_HEADERS,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  discardInput(socket);
}

/** Whether an answer has begun, and not ended, that another one would garble. */
function isAnswering(socket: Duplex): boolean {
  // Node's own way of telling (`socketOnError` in `_http_server.js`); there is no public one.
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse && message.headersSent && !message.writableEnded;
}

/** Closing while bytes still come in would reset the connection, and lose the answer with it. */
function discardInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}

function problemOf(error: ClientError, paths: Paths): { problem: GatewayError; headers: Headers } {
  const plain = (detail: string): { problem: GatewayError; headers: Headers } => {
    return { problem: new GatewayError('invalid-parameter', detail), headers: {} };
  };
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return plain(
        `Cannot read the request: its first line and headers take more than ${MAX_HEADER_SIZE} bytes. Put long texts into the body, which has no such limit.`,
      );
    case 'HPE_INVALID_METHOD':
      return unknownMethod(error, paths) ?? plain(notHttp(error));
    case 'HPE_INVALID_URL':
      return plain(`${notHttp(error)} Percent-encode everything that is not ASCII, as in %D0%A2.`);
    default:
      return plain(notHttp(error));
  }
}

function notHttp({ reason, message }: ClientError): string {
  return `Cannot read the request as HTTP/1.1: ${reason ?? message}.`;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r?\n/;

/** A method that Node's parser does not know is no fault in the eyes of HTTP. */
function unknownMethod(
  { rawPacket, bytesParsed = 0 }: ClientError,
  paths: Paths,
): { problem: GatewayError; headers: Headers } | undefined {
  // Requests that were sent ahead may stand before it.
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  const [, method, url] = REQUEST_LINE.exec(text.slice(start)) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const methods = paths.methodsAt(url);
  if (methods.length === 0) return { problem: paths.notFound(url), headers: {} };
  const headers = { Allow: methods.join(', ') };
  return { problem: methodNotAllowed(method, url, methods), headers };
}
