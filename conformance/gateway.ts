/**
 * A gateway as its visitors see it: a base address and nothing else. Nothing is assumed about what
 * it holds, who else uses it, or which rooms its language names.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { Answer } from './answer.ts';
import { type Body, Connections, type Headers, type Request } from './connections.ts';
import { OpenApiCheck } from './openapi-check.ts';
import { listingOf, parsedEntry, type Entry, type Kind, type Listing } from './entry.ts';
import { asObject, asArray, asString, type JsonObject } from './value.ts';

/** The origin of a page of another site. */
export const ELSEWHERE = 'https://elsewhere.example';

export type { Body, Headers } from './connections.ts';

export interface Contribution {
  readonly answer: Answer;
  /** As the answer has it, for a first contact with what the gateway adds. */
  readonly entry: Entry;
}

/** A name that nobody has used before. */
export function uniqueName(word = 'visitor'): string {
  return `${word}-${randomUUID()}`;
}

/** The path of a listing: names and values, percent-encoded. */
export function query(
  path: string,
  values: readonly (readonly [string, string | number])[],
): string {
  const pairs = values.map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return `${path}?${pairs.join('&')}`;
}

/** A body of a garden entry, or of any kind: `{"text","identity","identityType",…}`. */
export function traceBody(identity: string, more: JsonObject = {}): string {
  return JSON.stringify({ text: 'A trace.', identity, identityType: 'ai_entity', ...more });
}

/** A body of a first contact. */
export function contactBody(
  ai_identity: string,
  seeking: readonly string[],
  more: JsonObject = {},
): string {
  return JSON.stringify({ ai_identity, seeking, ...more });
}

export class Gateway implements Disposable {
  readonly base: URL;
  /** Another gateway of the same cluster, at which everything is read. */
  readonly reading: URL | undefined;
  readonly #connections: Connections;
  readonly #readers: Connections | undefined;
  #known: Promise<readonly JsonObject[]> | undefined;
  #described: Promise<OpenApiCheck> | undefined;

  constructor(base: string, reading?: string) {
    this.base = new URL(base);
    this.reading = reading === undefined ? undefined : new URL(reading);
    this.#connections = new Connections(this.base);
    this.#readers = this.reading && new Connections(this.reading);
  }

  /** Throws where the answer is not as the gateway's own description has it. */
  async request(method: string, path: string, headers: Headers = {}, body?: Body): Promise<Answer> {
    const answer = await this.#ask(method, path, headers, body);
    (await this.openApi()).check(method, path, answer);
    return answer;
  }

  /** What a page of another site is answered, which the gateway's description leaves out. */
  async requestFromPage(method: string, path: string, headers: Headers): Promise<Answer> {
    return await this.#ask(method, path, headers, method === 'POST' ? '{}' : undefined);
  }

  /** The origin of a page whose requests the gateway takes: any, unless it is for its own machine. */
  async pageOrigin(): Promise<string> {
    const { refusesPage } = await this.requestFromPage('GET', '/healthz', { origin: ELSEWHERE });
    return refusesPage ? 'http://localhost:3000' : ELSEWHERE;
  }

  /** What the gateway says of itself. */
  async openApi(): Promise<OpenApiCheck> {
    this.#described ??= this.#ask('GET', '/openapi.json', {}).then(
      (answer) => new OpenApiCheck(answer.expect(200).json),
    );
    return await this.#described;
  }

  async #ask(method: string, path: string, headers: Headers, body?: Body): Promise<Answer> {
    const isRead = method === 'GET' || method === 'HEAD';
    if (this.#readers === undefined || !isRead)
      return await answerOf(this.#connections, { method, path, headers, body });
    // Names what was seen here, so that the other gateway has it when it answers.
    const checkpoint = { method: 'GET', path: '/api/log/head', headers: {} };
    const head = Number((await answerOf(this.#connections, checkpoint)).expect(200).json['head']);
    const named = { method: 'GET', path: `/api/log?after=${head}&limit=0`, headers: {} };
    (await answerOf(this.#readers, named)).expect(200);
    const sent = { host: this.base.host, ...headers };
    return await answerOf(this.#readers, { method, path, headers: sent, body });
  }

  async get(path: string, headers: Headers = {}): Promise<Answer> {
    return await this.request('GET', path, headers);
  }

  async post(kind: Kind, body: Body, headers: Headers = {}): Promise<Answer> {
    return await this.request('POST', `/api/${kind}`, headers, body);
  }

  /** Says something that is kept. */
  async contribute(kind: Kind, body: Body, headers: Headers = {}): Promise<Contribution> {
    const answer = (await this.post(kind, body, headers)).expect(201);
    const entry = parsedEntry(answer.text, answer.value);
    assert.equal(answer.header('location'), entry.path);
    assert.equal(entry.kind, kind);
    return { answer, entry };
  }

  /** The entry at a path. */
  async read(path: string): Promise<Entry> {
    const { text, value } = (await this.get(path)).expect(200);
    return parsedEntry(text, value);
  }

  async list(path: string): Promise<Listing> {
    const { text, value } = (await this.get(path)).expect(200);
    return listingOf(text, value);
  }

  /** All that an identity has said, in the order of the path's own parameters. */
  async by(identity: string, path = '/api/garden'): Promise<readonly Entry[]> {
    return (await this.list(query(path, [['identity', identity]]))).entries;
  }

  /** Every entry from a path to the end of its `next` links. */
  async follow(path: string): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (let next: string | null = path; next !== null;) {
      const page: Listing = await this.list(next);
      found.push(...page.entries);
      next = page.entries.length === 0 ? null : page.next;
    }
    return found;
  }

  /** The slugs of the rooms, in the order of the language file. */
  async rooms(): Promise<readonly string[]> {
    const answer = (await this.get('/api/rooms')).expect(200);
    return asArray(answer.json['rooms']).map((room) => asString(asObject(room)['slug']));
  }

  /** The room of a kind whose bodies name none. */
  async roomOf(kind: Kind): Promise<string> {
    this.#known ??= this.get('/api/discover').then((answer) =>
      asArray(answer.expect(200).json['kinds']).map(asObject),
    );
    const known = (await this.#known).find((one) => one['kind'] === kind);
    return asString(known?.['room']);
  }

  /** What answers depend on beside the request: the head of the log, and who is here. */
  async state(): Promise<string> {
    const { json } = (await this.#ask('GET', '/api/discover', {})).expect(200);
    const here = asArray(json['here']).map((one) => {
      const { lastSeen: _, until: __, ...lasting } = asObject(one);
      return lasting;
    });
    return JSON.stringify([json['head'], here]);
  }

  /** The same gateway over another connection: a single one for requests made one by one. */
  connect(): Gateway {
    const other = new Gateway(this.base.href, this.reading?.href);
    other.#described = this.#described;
    return other;
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
    this.#readers?.[Symbol.dispose]();
  }
}

async function answerOf(connections: Connections, request: Request): Promise<Answer> {
  const { status, headers, body } = await connections.send(request);
  const pieces: Buffer[] = [];
  for await (const piece of body) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return new Answer({ method: request.method, status, headers, bytes: Buffer.concat(pieces) });
}
