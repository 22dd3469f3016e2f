/** What a gateway says of itself in its OpenAPI document, and whether its answers keep to it. */
import assert from 'node:assert/strict';

import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import type { Answer } from './answer.ts';
import { fields, type Fields } from './value.ts';

interface Item {
  readonly pattern: RegExp;
  readonly path: string;
  readonly methods: Fields;
}

/** Larger answers would take longer to check than to get. */
const CHECKED = 2 ** 23;
const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json$/;
const PROBLEM = 'application/problem+json';

export class Described {
  readonly document: Fields;
  readonly #items: readonly Item[];
  readonly #ajv: Ajv2020;
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(document: Fields) {
    this.document = document;
    const items = Object.entries(fields(document['paths'])).map(([path, methods]) => {
      const pattern = path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+');
      return { path, methods: fields(methods), pattern: new RegExp(`^${pattern}/?$`) };
    });
    // What is spelled out comes before what has variable parts.
    this.#items = items.toSorted(
      (a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')),
    );
    this.#ajv = new Ajv2020({ strict: false });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
  }

  /** Throws where an answer is not one that the document describes. */
  check(method: string, path: string, answer: Answer): void {
    const { status, type } = answer;
    if (method === 'HEAD' || method === 'OPTIONS' || !JSON_TYPE.test(type)) return;
    if (answer.header('content-encoding') !== undefined || answer.bytes.length > CHECKED) return;
    const [asked = ''] = path.split(/[?#]/, 1);
    const item = this.#items.find(({ pattern }) => pattern.test(asked));
    const operation = item?.methods[method.toLowerCase()];
    const where =
      item === undefined || operation === undefined
        ? '#/components/schemas/Problem'
        : this.#answerOf(fields(operation), { item, method, status, type });
    if (where === undefined) return;
    const valid = this.#checkAt(where);
    assert.ok(
      valid(answer.value),
      `${method} ${path} ${status} is not as described at ${where}: ${this.#ajv.errorsText(valid.errors)}\n${answer.text.slice(0, 600)}`,
    );
  }

  /** Where in the document the schema of an answer stands; undefined where any will do. */
  #answerOf(
    operation: Fields,
    { item, method, status, type }: { item: Item; method: string; status: number; type: string },
  ): string | undefined {
    const responses = fields(operation['responses']);
    const key = String(status) in responses ? String(status) : 'default';
    const place = `#/paths/${pointed(item.path)}/${method.toLowerCase()}/responses/${key}`;
    const response = responses[key];
    assert.ok(response !== undefined, `${method} ${item.path} does not describe its ${status}`);
    const reference = fields(response)['$ref'];
    const at = typeof reference === 'string' ? reference : place;
    const content = fields(fields(this.#at(at))['content']);
    if (!(type in content) && '*/*' in content) {
      return type === PROBLEM ? '#/components/schemas/Problem' : undefined;
    }
    assert.ok(type in content, `${method} ${item.path} ${status} does not describe ${type}`);
    if (!('schema' in fields(content[type]))) return undefined;
    return `${at}/content/${pointed(type)}/schema`;
  }

  #at(reference: string): unknown {
    const steps = reference.split('/').slice(1);
    return steps.reduce<unknown>(
      (value, step) =>
        fields(value)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
      this.document,
    );
  }

  #checkAt(where: string): ValidateFunction {
    const known = this.#checks.get(where);
    if (known !== undefined) return known;
    const check = this.#ajv.compile({ $ref: `openapi${where}` });
    this.#checks.set(where, check);
    return check;
  }
}

function pointed(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}
