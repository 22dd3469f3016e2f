/** Sends requests to one gateway, and makes one kind of error of everything that can fail. */
import { parseObject } from './entry.ts';
import { readWhole, SHORT } from './lines.ts';
import { errorOf, isLasting, PresenceError } from './presence-error.ts';
import { Backoff, Deadline, type RetryListener } from './waiting.ts';

export interface ConnectionOptions {
  /** The language of the gateway's texts: `uk` or `en` (PROTOCOL.md section 1.9). */
  readonly locale?: string | undefined;
  /** The global `fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
  /** Told of each attempt that failed and is repeated. */
  readonly onRetry?: RetryListener | undefined;
  /** How often a request is repeated after failures in a row: without end by default. */
  readonly maxRetries?: number | undefined;
  /**
   * How long an answer may take to begin, in ms, beside what the request asks the gateway to wait: after it,
   * the request has failed as if the gateway could not be reached. Without end by default, and for what sends
   * a `Blob`.
   */
  readonly timeout?: number | undefined;
  /**
   * In characters, of what is held in memory as a whole: a longer entry comes with the gateway's members only,
   * and a longer answer of another kind is an error. 16 million by default.
   */
  readonly longest?: number | undefined;
}

export interface GatewayOptions extends ConnectionOptions {
  /** The visitor's name: who says, whose inbox it is, and who is present while reading. */
  readonly identity?: string | undefined;
  /** What the visitor is: `ai_entity` by default. */
  readonly identityType?: string | undefined;
  /** The `seen` of the gateway in an earlier process. */
  readonly seen?: number | undefined;
}

export interface Signal {
  /** Ends the call, which throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export type QueryValue = string | number | Date | readonly (string | number)[] | undefined;
/** A value that is an array is given several times; undefined is left out. */
export type Query = Readonly<Record<string, QueryValue>>;

export interface RequestOptions extends Signal {
  readonly method?: 'GET' | 'POST';
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob;
}

/** Of an answer that is held as a whole. */
interface WholeOptions extends Signal {
  /** In characters: more is no answer of a gateway. `longest` of the connection by default. */
  readonly longest?: number | undefined;
  /** Members that are lists of objects. */
  readonly lists?: readonly string[];
}

export const LONGEST = 16_000_000;

export class Connection {
  /** Without a slash at its end. */
  readonly address: string;
  readonly longest: number;
  readonly #options: ConnectionOptions;

  constructor(address: string | URL, options: ConnectionOptions = {}) {
    const { href, protocol, username, password, search, hash } = new URL(address);
    // `fetch` fails for others as it does where nothing can be reached, which would be tried for ever.
    if (!/^https?:$/.test(protocol))
      throw new TypeError('The address of a gateway begins with http:// or https://.');
    if (username + password + search + hash !== '')
      throw new TypeError(
        'The address of a gateway, such as http://127.0.0.1:7410, has no user name, password, query or fragment.',
      );
    this.address = href.replace(/[/?#]+$/, '');
    this.longest = options.longest ?? LONGEST;
    this.#options = options;
  }

  backoff(signal: AbortSignal | undefined): Backoff {
    return new Backoff({ ...this.#options, signal });
  }

  /** The answer, if it is a success. `path`: with or without a query. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const { method = 'GET', query = {}, body, signal } = options;
    const { fetch: send = fetch, locale, timeout } = this.#options;
    const headers = headersOf({ 'Accept-Language': locale, ...options.headers });
    const url = this.address + withQuery(path, query);
    // Nobody knows how long it takes to send what is long.
    const deadline =
      timeout === undefined || body instanceof Blob
        ? undefined
        : this.#deadline(timeout, query['wait'], signal);
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = body;
    const ended = deadline?.signal ?? signal;
    if (ended !== undefined) init.signal = ended;
    try {
      const response = await this.attempt(() => send(url, init), ended);
      if (response.ok) return response;
      // The status says enough where the body breaks off.
      const refusal = readWhole(this.bytes(response, signal), SHORT).catch(() => ({ text: '' }));
      const { text } = await refusal;
      signal?.throwIfAborted();
      throw errorOf(response, text);
    } finally {
      // The rest of the answer may take as long as it likes.
      deadline?.stop();
    }
  }

  #deadline(timeout: number, waitS: QueryValue, signal: AbortSignal | undefined): Deadline {
    const ms = timeout + (typeof waitS === 'number' ? 1000 * waitS : 0);
    const late = new Error(`no answer began within ${ms} ms`);
    return new Deadline(signal, ms, () => this.unreachable(late));
  }

  async json<Document>(
    path: string,
    options: RequestOptions & WholeOptions = {},
  ): Promise<Document> {
    const { lists = [] } = options;
    const headers = { Accept: 'application/json', ...options.headers };
    const response = await this.send(path, { ...options, headers });
    const text = await this.text(response, options);
    const document = parseObject(text);
    if (document !== undefined && lists.every((name) => isList(document[name])))
      return document as Document;
    const wanted = ['JSON object', ...lists.map((name) => `list "${name}"`)].join(' with a ');
    throw unexpected(response, `what is no ${wanted}`, text);
  }

  /** The whole answer, which is read no further once it is longer than `longest`. */
  async text(
    response: Response,
    { longest = this.longest, signal }: WholeOptions,
  ): Promise<string> {
    const { text, isCut } = await readWhole(this.bytes(response, signal), longest);
    if (!isCut) return text;
    throw unexpected(response, `more than ${longest} characters`, text);
  }

  /** The bytes of an answer. Ends the request when its reader stops. */
  async *bytes(
    response: Response,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void> {
    // Not every browser can iterate over a stream.
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    try {
      for (;;) {
        const step = await this.attempt(() => reader.read(), signal);
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  /** Makes one error of all that a network can do. Passes on the reason of an abort. */
  async attempt<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await call();
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof PresenceError) throw cause;
      throw this.unreachable(cause);
    }
  }

  unreachable(cause: unknown): PresenceError {
    const advice = isLasting(cause)
      ? '. Trying again would not help: correct its address, its port or its certificate.'
      : '';
    const message = `The gateway at ${this.address} cannot be reached: ${reasonOf(cause)}${advice}`;
    return new PresenceError('unreachable', message, { cause });
  }
}

/** The error of an answer with what no gateway answers. */
export function unexpected(response: Response, description: string, text: string): PresenceError {
  const { url, status } = response;
  const message = `${url} answered ${status} with ${description}: ${text.slice(0, 200)}`;
  return new PresenceError('unexpected-answer', message, { status });
}

/** `fetch` fails for other headers too as it does where nothing can be reached. */
function headersOf(
  given: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!/^[\t -~\x80-\xff]*$/.test(value)) {
      const message = `Cannot send the header "${name}": its value has a character that no header can have, such as a line end: ${JSON.stringify(value)}`;
      throw new PresenceError('invalid-parameter', message);
    }
    headers[name] = value;
  }
  return headers;
}

/** `fetch` says what went wrong in the causes of its error. */
function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 4; at = at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    const text = at.message === '' ? code : at.message;
    const isGeneral = text === '' || text === 'fetch failed';
    if (!isGeneral && !reasons.includes(text)) reasons.push(text);
  }
  return reasons.length === 0 ? String(error) : reasons.join(': ');
}

function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    // Without a value, a parameter would select everything.
    const isList = Array.isArray(value) && value.length > 0;
    const values: readonly unknown[] = isList ? value : [value];
    for (const single of values) parameters.append(name, textOf(name, single));
  }
  if (parameters.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${parameters.toString()}`;
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
}

function textOf(name: string, value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  const message = `"${name}" must be a text, a number, a time or several texts.`;
  throw new PresenceError('invalid-parameter', message);
}
