/**
 * Responses to bytes that are not an HTTP/1.1 request (RFC 9112). They are written to the socket,
 * because Node provides neither request nor response then.
 */
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

import { ServerResponse, STATUS_CODES } from './node-http.ts';
import { discardInput } from '../request/discard-input.ts';
import { jsonBody } from '../response/response.ts';
import { COMMON_HEADERS, headerLines, NO_STORE, type Headers } from '../response/headers.ts';
import { PROBLEM_TYPE } from '../response/problem.ts';
import type { Router, Unmatched } from '../router.ts';

/** Node's error for bytes that it cannot parse. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** How many bytes of the packet were parsed. */
  readonly bytesParsed?: number;
}

const TOO_LONG = `Cannot read the request: its first line and headers take more than ${MAX_HEADER_SIZE} bytes. Send long texts in the body of a POST, which has no such limit.`;

type Response = InstanceType<typeof ServerResponse>;
type Paths = Pick<Router<never>, 'unmatched'>;

/**
 * Sends a problem and closes the connection. Resolves to the status, if it was sent. A handler
 * that is still reading the body gets the problem as an error of that body, and may finish its own response.
 */
export async function respondToMalformed(
  error: ClientError,
  socket: Duplex,
  language: Language,
  paths: Paths,
): Promise<number | undefined> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const response = unfinishedResponse(socket);
  if (response !== undefined) {
    breakOffBody(response, problemOf(error, '', paths).error);
    return undefined;
  }
  const start = requestStart(error);
  const isCut = error.code === 'HPE_INVALID_METHOD' && CUT_REQUEST_LINE.test(start);
  const line = isCut ? await readLine(socket, start) : start;
  if (!socket.writable) return undefined;
  const { error: problem, headers } = problemOf(error, line, paths);
  const title = localize(language.errors[problem.code], undefined);
  socket.end(rawResponse(jsonBody(problemDocument(problem, title)), problem, headers));
  discardInput(socket);
  return statusOf(problem.code);
}

/** The request that cannot be parsed, as far as it has arrived with what is wrong in it. */
function requestStart({ rawPacket, bytesParsed = 0 }: ClientError): string {
  const text = rawPacket?.toString('latin1') ?? '';
  // Empty lines may precede it.
  return bytesParsed === 0 ? text : text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1);
}

/** Resolves with what begins with `start`, once it has a whole line, is too long, or nothing more comes. */
function readLine(socket: Duplex, start: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const parts = [start];
  let size = start.length;
  const finish = (): void => {
    socket.off('data', receive).off('end', finish).off('close', finish);
    resolve(parts.join(''));
  };
  const receive = (bytes: Buffer): void => {
    parts.push(bytes.toString('latin1'));
    size += bytes.length;
    if (size > MAX_HEADER_SIZE || bytes.includes(LINE_FEED)) finish();
  };
  socket.removeAllListeners('data');
  socket.on('data', receive).on('end', finish).on('close', finish);
  return promise;
}

function rawResponse(body: Buffer, { code }: GatewayError, headers: Headers): Buffer {
  const status = statusOf(code);
  const lines = headerLines({
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(body.length),
    Connection: 'close',
    ...SERVICE_LINK_HEADER,
    ...headers,
    ...NO_STORE,
    ...COMMON_HEADERS,
  });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** Lets a handler that still reads the body finish its response; cuts off any other. */
function breakOffBody(response: Response, problem: GatewayError): void {
  const { req: request } = response;
  const { socket } = request;
  if (request.complete || request.listenerCount('error') === 0) {
    socket.destroy();
    return;
  }
  response.once('finish', () => {
    socket.end();
    discardInput(socket);
  });
  request.emit('error', problem);
}

/** The response that is being sent, which another one would corrupt. */
function unfinishedResponse(socket: Duplex): Response | undefined {
  // As Node does (`socketOnError` in `_http_server.js`); there is no public API.
  const message: unknown = Reflect.get(socket, '_httpMessage');
  if (!(message instanceof ServerResponse)) return undefined;
  return message.headersSent && !message.writableEnded ? message : undefined;
}

function problemOf(error: ClientError, start: string, paths: Paths): Unmatched {
  const invalid = (detail: string): Unmatched => {
    return { error: new GatewayError('invalid-parameter', detail), headers: {} };
  };
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return invalid(TOO_LONG);
    case 'HPE_INVALID_METHOD':
      return (
        unknownMethod(start, paths) ??
        invalid(start.length > MAX_HEADER_SIZE ? TOO_LONG : notHttp(error))
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return invalid(
        'Cannot read the body: the extensions of a chunk take more than 16 KiB. Send it without them.',
      );
    case 'HPE_INVALID_CONSTANT':
      return invalid(
        `${notHttp(error)} Percent-encode each space in the path and the query, as %20.`,
      );
    case 'HPE_INVALID_EOF_STATE':
      return invalid(
        'Cannot read the request: it ended before its end. Send all bytes that "Content-Length" announces, or the last chunk.',
      );
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
/** Its end is still to come. */
const CUT_REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S*(?: [HTP/1.]*)?$/;
const LINE_FEED = 0x0a;

/** HTTP allows methods that Node's parser does not know. They are answered with 405 or 404. */
function unknownMethod(start: string, paths: Paths): Unmatched | undefined {
  const [, method, url] = REQUEST_LINE.exec(start) ?? [];
  if (method === undefined || url === undefined) return undefined;
  return paths.unmatched(method, url);
}
