/** What the relay must know of a message to pass it on. It never prints one anew. */

export type RequestId = string | number;
type Fields = Readonly<Record<string, unknown>>;

/** A message, or several in one array. */
export interface Passed {
  /** Whether it is of JSON-RPC, as far as can be seen here. */
  readonly isMessage: boolean;
  /** Of the requests in it. */
  readonly ids: readonly RequestId[];
  /** What MCP wants said of a request in the headers, too. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request that it cancels. */
  readonly cancels: RequestId | undefined;
  readonly initializes: boolean;
  /** Whether its answer may be long in coming, because that waits for what others say. */
  readonly waits: boolean;
}

/** Of what is no JSON nothing is known; the gateway says so. */
export function passedIn(bytes: Buffer): Passed {
  const messages = messagesIn(bytes) ?? [];
  const requests = messages.filter((one) => typeof one['method'] === 'string' && 'id' in one);
  const [first = {}] = messages;
  const alone = messages.length === 1;
  const { method } = first;
  const params = fieldsOf(first['params']);
  const known = ['method', 'result', 'error'];
  return {
    isMessage: messages.length > 0 && messages.every((one) => known.some((name) => name in one)),
    ids: idsOf(requests),
    headers: alone && requests.length === 1 ? headersFor(method, params) : {},
    cancels: alone && method === 'notifications/cancelled' ? idOf(params['requestId']) : undefined,
    initializes: method === 'initialize',
    waits: method === 'subscriptions/listen' || params['name'] === 'wait_for_news',
  };
}

/** The requests that a message answers; undefined where it is no JSON. */
export function answeredIn(bytes: Buffer): RequestId[] | undefined {
  const messages = messagesIn(bytes);
  return messages && idsOf(messages.filter((one) => !('method' in one)));
}

/** The revision that the answer to `initialize` settles on. */
export function revisionIn(bytes: Buffer): string | undefined {
  const [answer = {}] = messagesIn(bytes) ?? [];
  const { protocolVersion } = fieldsOf(answer['result']);
  return typeof protocolVersion === 'string' ? protocolVersion : undefined;
}

export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Not among those of JSON-RPC: the gateway did not answer, or not in JSON-RPC. */
export const UNREACHED = -32_000;

/** The gateway's own words, where its answer is an error of JSON-RPC or a problem document. */
export function refusalIn(bytes: Buffer): Refusal | undefined {
  const [answer = {}] = messagesIn(bytes) ?? [];
  const { code, message, data } = fieldsOf(answer['error']);
  if (typeof code === 'number' && typeof message === 'string') {
    return data === undefined ? { code, message } : { code, message, data };
  }
  const { detail } = answer;
  return typeof detail === 'string'
    ? { code: UNREACHED, message: detail, data: answer }
    : undefined;
}

function messagesIn(bytes: Buffer): Fields[] | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return [value].flat().map(fieldsOf);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function idsOf(messages: readonly Fields[]): RequestId[] {
  return messages.map((one) => idOf(one['id'])).filter((id) => id !== undefined);
}

function idOf(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';
/** Where the name of what is asked for stands. */
const NAMED: ReadonlyMap<unknown, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** From 2026-07-28 on, where each request says its own revision. */
function headersFor(method: unknown, params: Fields): Record<string, string> {
  const version = fieldsOf(params['_meta'])[VERSION];
  if (typeof version !== 'string') return {};
  const name = params[NAMED.get(method) ?? ''];
  return {
    'MCP-Protocol-Version': version,
    'Mcp-Method': spelled(String(method)),
    ...(typeof name === 'string' ? { 'Mcp-Name': spelled(name) } : {}),
  };
}

/** What a header cannot hold as it is, it holds in base64. */
function spelled(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
