/**
 * A small and naive agent: it knows an address, HTTP and the conventions of one way in, and nothing
 * of this gateway. It goes only where a link leads, and sends only what an example shows.
 */
import assert from 'node:assert/strict';

import { OpenApiCheck } from '../../conformance/openapi-check.ts';
import { bodiesOf, inlineReferences, operationsOf } from '../../conformance/openapi-document.ts';
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';

/** A request as a document shows it. */
export interface Shown {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

export class Agent {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: string, locale: string) {
    this.#base = base;
    this.#headers = { 'accept-language': locale };
  }

  async get(address: string, accept = '*/*'): Promise<Response> {
    const answer = await this.#ask('GET', address, { headers: { accept } });
    assert.ok(answer.ok, `GET ${address}: ${answer.status}`);
    return answer;
  }

  async read(address: string, accept?: string): Promise<string> {
    return await (await this.get(address, accept)).text();
  }

  async json(address: string): Promise<JsonObject> {
    return asObject(await (await this.get(address)).json());
  }

  /** Where a link of the answer's header with this relation leads. */
  async linkFrom(address: string, relation: string): Promise<string> {
    const link = (await this.get(address)).headers.get('link') ?? '';
    const [, target] = new RegExp(`<([^>]+)>; rel="${relation}"`).exec(link) ?? [];
    assert.ok(target !== undefined, `${address} has no link ${relation}: ${link}`);
    return target;
  }

  /** Sends what is shown; what was said then, as it is kept. */
  async send({ method, url, body }: Shown): Promise<JsonObject> {
    const answer = await this.#ask(method, url, {
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, 201, await answer.clone().text());
    await answer.arrayBuffer();
    return await this.json(answer.headers.get('location') ?? '');
  }

  /** What is answered to a request that is wrong. */
  async refused(address: string): Promise<JsonObject> {
    const answer = await this.#ask('GET', address, { headers: {} });
    assert.ok(!answer.ok);
    return asObject(await answer.json());
  }

  /** Throws where the answer is not as the gateway's own description has it. */
  async #ask(
    method: string,
    address: string,
    { headers, body }: { headers: Readonly<Record<string, string>>; body?: string },
  ): Promise<Response> {
    const url = this.#at(address);
    const sent = { method, headers: { ...this.#headers, ...headers } };
    const answer = await fetch(url, body === undefined ? sent : { ...sent, body });
    const { pathname } = new URL(url);
    (await this.#described()).check(method, pathname, {
      status: answer.status,
      type: (answer.headers.get('content-type') ?? '').split(';')[0] ?? '',
      bytes: Buffer.from(await answer.clone().arrayBuffer()),
      // Whatever it was compressed by is undone.
      header: (name) =>
        name === 'content-encoding' ? undefined : (answer.headers.get(name) ?? undefined),
    });
    return answer;
  }

  #description: Promise<OpenApiCheck> | undefined;

  async #described(): Promise<OpenApiCheck> {
    this.#description ??= fetch(this.#at('/openapi.json')).then(
      async (answer) => new OpenApiCheck(asObject(await answer.json())),
    );
    return await this.#description;
  }

  #at(address: string): string {
    const url = new URL(address, this.#base);
    assert.equal(url.origin, new URL(this.#base).origin, 'it stays at the address it has');
    return url.href;
  }
}

/** The requests that a document shows in its blocks of code, in their order. */
export function requestsIn(document: string): Shown[] {
  const found = document.matchAll(
    /^ *(GET|POST) (http\S+)(?:\n(?: *[\w-]+: .*\n)+ *\n *(\{.*\}))?$/gm,
  );
  return Array.from(found, ([, method = '', url = '', body]) => ({ method, url, body }));
}

/** The first of them with this method. */
export function firstIn(document: string, method: string): Shown {
  const shown = requestsIn(document).find((one) => one.method === method);
  assert.ok(shown !== undefined, `no ${method} is shown in ${document}`);
  return shown;
}

/** The text of a page: its code as it is to be read. */
export function textOf(html: string): string {
  const bare = html.replaceAll(/<pre><code>|<\/code><\/pre>/g, '\n').replaceAll(/<[^>]*>/g, '');
  return bare
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** The first request with a body that an OpenAPI document has an example of. */
export function firstDescribed(document: JsonObject): Shown {
  for (const operation of operationsOf(inlineReferences(document))) {
    const [body] = bodiesOf(document, operation);
    if (body !== undefined) return { method: 'POST', url: operation.path, body };
  }
  assert.fail('no request with a body is described');
}

/** The first address in a linkset with this relation. */
export function relatedIn(linkset: JsonObject, relation: string): string {
  const [context] = asArray(linkset['linkset']).map(asObject);
  const [target] = asArray(asObject(context)[relation]).map(asObject);
  return asString(asObject(target)['href']);
}
