/** Connections to a gateway: HTTP/1.1, or HTTP/2 where it is offered, as a proxy with TLS does. */
import { once } from 'node:events';
import {
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable, type Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';

export type Headers = Readonly<Record<string, string | readonly string[]>>;
/** In pieces: sent chunked, one chunk a piece. */
export type Body = string | Uint8Array | AsyncIterable<Uint8Array> | readonly Uint8Array[];

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Body | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Whether the body has come to its own end. */
  isComplete(): boolean;
}

/** Bytes of unread answers that one connection of HTTP/2 may hold, in MB. */
const SESSION_MEMORY_MB = 1000;
/** Of a connection of HTTP/2. */
const WINDOW_SIZE = 2 ** 30;
const MAX_HEADER_SIZE = 2 ** 26;

const activeStreams = new WeakMap<ClientHttp2Session, number>();

export class Connections implements Disposable {
  readonly #base: URL;
  readonly #agent: HttpAgent;
  #session: Promise<ClientHttp2Session | undefined> | undefined;

  constructor(base: URL) {
    this.#base = base;
    const keep = { keepAlive: true, maxSockets: 64 };
    this.#agent = base.protocol === 'https:' ? new HttpsAgent(keep) : new HttpAgent(keep);
  }

  /** Resolves once the head of the answer is there. */
  async send(request: Request): Promise<Received> {
    const session = await this.#http2();
    if (session === undefined || !hasForm2(request)) return await this.#send1(request);
    return await send2(session, this.#base, request);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    void this.#session?.then((session) => session?.destroy());
  }

  /** Undefined where HTTP/2 is not offered. */
  async #http2(): Promise<ClientHttp2Session | undefined> {
    const session = await this.#session;
    if (this.#session === undefined || session?.closed === true || session?.destroyed === true)
      this.#session = openSession(this.#base);
    return await this.#session;
  }

  async #send1({ method, path, headers, body }: Request): Promise<Received> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = this.#base.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = request(this.#base, {
      method,
      path,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : [...value],
        ]),
      ),
      agent: this.#agent,
      maxHeaderSize: MAX_HEADER_SIZE,
    });
    sent.once('response', resolve).once('error', reject);
    write(sent, body);
    const message = await promise;
    return {
      status: message.statusCode ?? 0,
      headers: message.headers,
      body: message,
      isComplete: () => message.complete,
    };
  }
}

/** Whether HTTP/2 can say the same: it has no headers of connections, and few that are repeated. */
function hasForm2({ headers }: Request): boolean {
  return Object.entries(headers).every(
    ([name, value]) =>
      typeof value === 'string' && !/^(?:connection|transfer-encoding|expect)$/i.test(name),
  );
}

async function openSession(base: URL): Promise<ClientHttp2Session | undefined> {
  if (base.protocol !== 'https:') return undefined;
  const { hostname: host, port } = base;
  const socket = connectTls({
    host,
    port: Number(port) || 443,
    servername: host,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await once(socket, 'secureConnect');
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy();
    return undefined;
  }
  const session = connectHttp2(base, {
    createConnection: () => socket,
    maxSessionMemory: SESSION_MEMORY_MB,
    maxSendHeaderBlockLength: MAX_HEADER_SIZE,
  });
  // Each request has the error too.
  session.on('error', () => {});
  session.unref();
  await once(session, 'connect');
  // An answer that is not read must not hold up the others.
  session.setLocalWindowSize(WINDOW_SIZE);
  return session;
}

async function send2(
  session: ClientHttp2Session,
  base: URL,
  { method, path, headers, body }: Request,
): Promise<Received> {
  const { host = base.host, ...others } = headers;
  const stream = session.request({
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
    ':method': method,
    ':path': path,
    ':authority': String(host),
  });
  // The process waits for answers only.
  activeStreams.set(session, (activeStreams.get(session) ?? 0) + 1);
  session.ref();
  stream.once('close', () => {
    const active = (activeStreams.get(session) ?? 1) - 1;
    activeStreams.set(session, active);
    if (active === 0) session.unref();
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
  stream.once('response', resolve).once('error', reject);
  stream.once('close', () => reject(new Error(`${method} ${path} was not answered.`)));
  write(stream, body);
  const { ':status': status, ...received } = (await promise) as IncomingHttpHeaders & {
    ':status'?: number;
  };
  return {
    status: Number(status),
    headers: received,
    body: stream,
    isComplete: () => stream.rstCode === 0,
  };
}

function write(target: Writable, body: Body | undefined): void {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array)
    target.end(body);
  else
    Readable.from(body)
      .once('error', (error) => target.destroy(error))
      .pipe(target);
}
