/** An answer, and what holds for every one of them (PROTOCOL.md sections 1.1, 1.4 and 11). */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';

import { asObject, parseJson, asNonBlank, type JsonObject } from './value.ts';

const NEVER: readonly number[] = [401, 403, 408, 413, 414, 429, 431];

export interface AnswerParts {
  readonly method: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

export class Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent, still compressed if it was. */
  readonly bytes: Buffer;
  readonly #method: string;
  #text: string | undefined;
  /** The parsed body, in an array once it has been parsed. */
  #parsed: readonly [value: unknown] | undefined;

  constructor(parts: AnswerParts) {
    this.#method = parts.method;
    this.status = parts.status;
    this.headers = parts.headers;
    this.bytes = parts.bytes;
    this.#check();
  }

  get text(): string {
    this.#text ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes);
    return this.#text;
  }

  get json(): JsonObject {
    return asObject(this.value);
  }

  get value(): unknown {
    this.#parsed ??= [parseJson(this.text)];
    return this.#parsed[0];
  }

  /** The media type without its parameters. */
  get type(): string {
    return (this.headers['content-type'] ?? '').split(';')[0] ?? '';
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Throws, with what was answered instead, where it is another status. */
  expect(status: number): this {
    const found = this.bytes.subarray(0, 600).toString();
    assert.equal(this.status, status, `${status} is wanted, not ${this.status}: ${found}`);
    return this;
  }

  /** Throws where this is not the problem with that code. */
  problem(status: number, code: string): JsonObject {
    this.expect(status);
    assert.equal(this.json['code'], code, this.text.slice(0, 600));
    return this.json;
  }

  /** Whether it refuses a page of another site, which only a gateway for its own machine does (1.12). */
  get refusesPage(): boolean {
    if (this.status !== 403 || this.type !== 'application/problem+json') return false;
    return this.#method === 'HEAD' || this.json['code'] === 'foreign-page';
  }

  #check(): void {
    if (this.refusesPage) {
      assert.equal(
        this.headers['access-control-allow-origin'],
        undefined,
        'it is not for the page',
      );
      return;
    }
    assert.ok(!NEVER.includes(this.status), `nobody is answered ${this.status}`);
    assert.equal(this.headers['access-control-allow-origin'], '*', 'every origin is allowed');
    assert.equal(this.headers['access-control-allow-credentials'], undefined);
    if (this.status < 400 || this.#method === 'HEAD' || this.header('content-encoding')) return;
    // A page, for a caller that prefers it.
    if (this.type === 'text/html') return;
    const isOther = 'status' in this.json || 'jsonrpc' in this.json;
    if (this.type === 'application/json' && isOther) return;
    assert.equal(this.type, 'application/problem+json', 'errors are problem documents');
    assert.equal(this.json['status'], this.status);
    for (const member of ['type', 'title', 'detail', 'code']) asNonBlank(this.json[member]);
  }
}
