/**
 * Responses to bytes that are not an HTTP/1.1 request (RFC 9112). They are written to the socket,
 * because Node provides neither request nor response then.
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

import { jsonBody } from './response/response.ts';
import { COMMON_HEADERS, NO_STORE, type Headers } from './response/headers.ts';
import { PROBLEM_TYPE } from './response/problem.ts';
import type { Router, Unmatched } from './router.ts';

/** Node's error for bytes that it cannot parse. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** How many bytes of the packet were parsed. */
  readonly bytesParsed?: number;
}

type Paths = Pick<Router<never>, 'unmatched'>;

/** How long input is discarded before a caller that does not close is disconnected. */
const DISCARD_MS = 30_000;

/** Sends a problem and closes the connection. */
export function respondToMalformed(
  error: ClientError,
  socket: Duplex,
  language: Language,
  paths: Paths,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isResponding(socket)) {
    socket.destroy();
    return;
  }
  const { error: problem, headers } = problemOf(error, paths);
  const title = localize(language.errors[problem.code], undefined);
  socket.end(rawResponse(jsonBody(problemDocument(problem, title)), problem, headers));
  discardInput(socket);
}

function rawResponse(body: Buffer, { code }: GatewayError, headers: Headers): Buffer {
  const status = statusOf(code);
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
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** Whether a response is being sent, which another one would corrupt. */
function isResponding(socket: Duplex): boolean {
  // As Node does (`socketOnError` in `_http_server.js`); there is no public API.
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse && message.headersSent && !message.writableEnded;
}

/** Closing while bytes arrive would reset the connection, and the caller would lose the response. */
function discardInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}

function problemOf(error: ClientError, paths: Paths): Unmatched {
  const invalid = (detail: string): Unmatched => {
    return { error: new GatewayError('invalid-parameter', detail), headers: {} };
  };
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return invalid(
        `Cannot read the request: its first line and headers take more than ${MAX_HEADER_SIZE} bytes. Put long texts into the body, which has no such limit.`,
      );
    case 'HPE_INVALID_METHOD':
      return unknownMethod(error, paths) ?? invalid(notHttp(error));
    case 'HPE_INVALID_URL':
      return invalid(
        `${notHttp(error)} Percent-encode everything that is not ASCII, as in %D0%A2.`,
      );
    default:
      return invalid(notHttp(error));
  }
}

function notHttp({ reason, message }: ClientError): string {
  return `Cannot read the request as HTTP/1.1: ${reason ?? message}.`;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r?\n/;

/** HTTP allows methods that Node's parser does not know: they are answered by 405 or 404. */
function unknownMethod(
  { rawPacket, bytesParsed = 0 }: ClientError,
  paths: Paths,
): Unmatched | undefined {
  // Pipelined requests may precede it in the packet.
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  const [, method, url] = REQUEST_LINE.exec(text.slice(start)) ?? [];
  if (method === undefined || url === undefined) return undefined;
  return paths.unmatched(method, url);
}
