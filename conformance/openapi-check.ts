/** What a gateway says of itself in its OpenAPI document, and whether its answers keep to it. */
import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import { inlineReferences } from './openapi-document.ts';
import { asObject, asString, parseJson, type JsonObject } from './value.ts';

/** An answer, by whomever it was got. */
export interface CheckedAnswer {
  readonly status: number;
  /** The media type without its parameters. */
  readonly type: string;
  readonly bytes: Buffer;
  /** The body as a value, where it is at hand: of no use if the body is compressed. */
  readonly value?: unknown;
  header(name: string): string | undefined;
}

interface Item {
  readonly pattern: RegExp;
  readonly path: string;
  readonly methods: JsonObject;
}

/** Larger answers would take longer to check than to get. */
const CHECKED = 2 ** 23;
const JSON_TYPE = /^application\/(?:[a-z\d.-]+\+)?json$/;
const LINES = 'application/x-ndjson';
const ENTRY = '#/components/schemas/Entry';
const PROBLEM = '#/components/schemas/Problem';
const FEED = /\.(?:atom|json-feed)$/;
const CHECKPOINT = '#/components/schemas/Checkpoint';

export class OpenApiCheck {
  readonly document: JsonObject;
  readonly #items: readonly Item[];
  readonly #ajv: Ajv2020;
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(described: JsonObject) {
    const document = inlineReferences(described);
    this.document = document;
    const items = Object.entries(asObject(document['paths'])).map(([path, methods]) => {
      const pattern = path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+');
      return { path, methods: asObject(methods), pattern: new RegExp(`^${pattern}/?$`) };
    });
    // What is spelled out comes before what has variable parts, and of those what says more.
    this.#items = items.toSorted(
      (a, b) => literal(b.path) - literal(a.path) || b.path.length - a.path.length,
    );
    this.#ajv = new Ajv2020({ strict: false });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
  }

  /** Throws where an answer is not one that the document describes. Other protocols are not in it. */
  check(method: string, path: string, answer: CheckedAnswer): void {
    const { type } = answer;
    if (method === 'HEAD' || method === 'OPTIONS') return;
    const [asked = ''] = path.split(/[?#]/, 1);
    const item = FEED.test(asked)
      ? undefined
      : this.#items.find(({ pattern }) => pattern.test(asked));
    const operation = item?.methods[method.toLowerCase()];
    const where =
      item === undefined || operation === undefined
        ? schemaOfProblem(type)
        : this.#schemaOf(asObject(operation), { item, method, answer });
    if (where === undefined && type !== LINES) return;
    const told = saidIn(answer);
    if (told === undefined) return;
    if (type === LINES && item !== undefined && method === 'GET') {
      for (const line of told.split('\n').filter((text) => text !== '')) {
        const value = parseJson(line);
        if (item.path === '/api/log') this.#validLogLine(asObject(value), path);
        else this.#valid(ENTRY, value, `a line of ${path}`);
      }
    } else if (where !== undefined && JSON_TYPE.test(type)) {
      const plain = answer.header('content-encoding') === undefined;
      const value = plain && 'value' in answer ? answer.value : parseJson(told);
      this.#valid(where, value, `${method} ${path} ${answer.status}`);
    }
  }

  #validLogLine(line: JsonObject, path: string): void {
    if ('entry' in line) this.#valid(ENTRY, line['entry'], `an entry of ${path}`);
    else this.#valid(CHECKPOINT, line, `a line of ${path}`);
  }

  #valid(where: string, value: unknown, what: string): void {
    const valid = this.#checkAt(where);
    if (valid(value)) return;
    const faults = this.#ajv.errorsText(valid.errors);
    const said = JSON.stringify(value).slice(0, 600);
    assert.fail(`${what} is not as described at ${where}: ${faults}\n${said}`);
  }

  /** Where in the document the schema of an answer stands; undefined where it is described in words. */
  #schemaOf(
    operation: JsonObject,
    { item, method, answer }: { item: Item; method: string; answer: CheckedAnswer },
  ): string | undefined {
    const { status, type } = answer;
    const responses = asObject(operation['responses']);
    const key = String(status) in responses ? String(status) : 'default';
    const what = `${method} ${item.path} ${status}`;
    assert.ok(key !== 'default' || status >= 400 || status === 307, `${what} is not described`);
    const { content = {}, headers = {}, description } = asObject(responses[key]);
    for (const [name, header] of Object.entries(asObject(headers))) {
      const isThere = answer.header(name.toLowerCase()) !== undefined;
      assert.ok(isThere || asObject(header)['required'] !== true, `${what} has no ${name}`);
    }
    // A part of an entry.
    if (type === '' || status === 206) return undefined;
    if (!(type in asObject(content))) {
      assert.ok(asString(description).includes(type), `${what} does not describe ${type}`);
      return undefined;
    }
    const place = `#/paths/${pointed(item.path)}/${method.toLowerCase()}/responses/${key}`;
    return `${place}/content/${pointed(type)}/schema`;
  }

  #checkAt(where: string): ValidateFunction {
    const known = this.#checks.get(where);
    if (known !== undefined) return known;
    const check = this.#ajv.compile({ $ref: `openapi${where}` });
    this.#checks.set(where, check);
    return check;
  }
}

function schemaOfProblem(type: string): string | undefined {
  return type === 'application/problem+json' ? PROBLEM : undefined;
}

/** 1 for a path without variable parts, else 0. */
function literal(path: string): number {
  return path.includes('{') ? 0 : 1;
}

function pointed(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** As text, whatever it was compressed by; undefined where it is too long to be looked at. */
function saidIn(answer: CheckedAnswer): string | undefined {
  const { bytes } = answer;
  if (bytes.length > CHECKED) return undefined;
  const options = { maxOutputLength: 8 * CHECKED };
  switch (answer.header('content-encoding')) {
    case 'gzip':
      return gunzipSync(bytes, options).toString();
    case 'br':
      return brotliDecompressSync(bytes, options).toString();
    case 'zstd':
      return zstdDecompressSync(bytes, options).toString();
    default:
      return bytes.toString();
  }
}
