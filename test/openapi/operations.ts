/** An OpenAPI document as a caller reads it: its operations, and the requests that it shows. */
import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';

export interface Operation {
  /** As the document has it. */
  readonly path: string;
  /** In capitals. */
  readonly method: string;
  readonly is: JsonObject;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** What it shows. */
  readonly of: string;
}

export function operationsOf(document: JsonObject): Operation[] {
  return Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, is]) => {
      return { path, method: method.toUpperCase(), is: asObject(is) };
    }),
  );
}

export function parametersOf({ is }: Operation, place: string): JsonObject[] {
  const all = asArray(is['parameters'] ?? []).map(asObject);
  return all.filter((parameter) => parameter['in'] === place);
}

/** A schema, or that to which it refers. */
export function schemaAt(document: JsonObject, schema: unknown): JsonObject {
  const { $ref: reference } = asObject(schema);
  if (reference === undefined) return asObject(schema);
  const schemas = asObject(asObject(document['components'])['schemas']);
  return asObject(schemas[asString(reference).split('/').at(-1) ?? '']);
}

/** A value of a parameter: its example, or the first that is listed. */
function exampleOf(document: JsonObject, { example, schema }: JsonObject): unknown {
  if (example !== undefined) return example;
  const [first] = asArray(asObject(schema)['anyOf'] ?? [schema]);
  return asArray(schemaAt(document, first)['enum'] ?? [])[0];
}

/** The answers of an operation that are no errors, by status. */
export function successesOf({ is }: Operation): [string, JsonObject][] {
  const answers = Object.entries(asObject(is['responses']));
  return answers
    .filter(([status]) => status.startsWith('2'))
    .map(([status, answer]) => [status, asObject(answer)]);
}

/** Operations that a link of another one leads to. */
function linkedIn(document: JsonObject): ReadonlySet<string> {
  const links = operationsOf(document).flatMap((operation) =>
    successesOf(operation).flatMap(([, { links = {} }]) => Object.values(asObject(links))),
  );
  return new Set(links.map((link) => asString(asObject(link)['operationId'])));
}

/** What is missing for all requests of an operation to be sent as they stand. */
export function lacks(document: JsonObject, operation: Operation): string[] {
  const { path, method, is } = operation;
  const name = `${method} ${path}`;
  const linked = linkedIn(document).has(asString(is['operationId']));
  const needed = [...parametersOf(operation, 'path'), ...parametersOf(operation, 'query')]
    .filter(({ in: place, required }) => required === true && !(linked && place === 'path'))
    .filter((parameter) => exampleOf(document, parameter) === undefined)
    .map((parameter) => `${name}: ${asString(parameter['name'])} has no example`);
  const body = 'requestBody' in is && bodiesOf(document, operation).length === 0;
  const { 200: ok, 201: created, default: error } = asObject(is['responses']);
  return [
    ...needed,
    ...(body ? [`${name}: its body has no example`] : []),
    ...(ok === undefined && created === undefined ? [`${name}: nothing but errors`] : []),
    ...(error === undefined ? [`${name}: no error is described`] : []),
  ];
}

function bodiesOf(document: JsonObject, { is }: Operation): string[] {
  if (!('requestBody' in is)) return [];
  const content = asObject(asObject(is['requestBody'])['content']);
  const { schema } = asObject(content['application/json']);
  const { examples = [] } = schemaAt(document, schema);
  return asArray(examples).map((example) => JSON.stringify(example));
}

/** Path with its examples; an id is one that a link told. */
function pathOf(document: JsonObject, operation: Operation, id: string): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parametersOf(operation, 'path').find((one) => one['name'] === name);
    return encodeURIComponent(asString(exampleOf(document, found ?? {}) ?? id));
  });
}

/** Each form that an answer to `GET` is said to have, in a schema or in words, and how it is asked for. */
export function formsOf(
  document: JsonObject,
  operation: Operation,
  id: string,
): (Request & { readonly type: string })[] {
  const [plain] = requestsOf(document, operation, id);
  const { content = {}, description = '' } = asObject(asObject(operation.is['responses'])['200']);
  if (operation.method !== 'GET' || plain === undefined || 'say' === operation.is['operationId'])
    return [];
  const inWords = asString(description).matchAll(/`([a-z]+\/[a-z+-]+)`/g);
  const types = [
    ...Object.keys(asObject(content)),
    ...Array.from(inWords, ([, type = '']) => type),
  ];
  return types.map((type) => {
    return { ...plain, headers: { accept: type }, type, of: `${plain.of} as ${type}` };
  });
}

/** Mistakes: each parameter with a value that means nothing, bodies that are no message, no such id. */
export function mistakesOf(document: JsonObject, operation: Operation): Request[] {
  const { method } = operation;
  const path = pathOf(document, operation, 'nothing');
  const nowhere = operation.path.replaceAll(/\{\w+\}/g, 'nothing');
  const [body] = bodiesOf(document, operation);
  const made = (url: string, said = body, headers = {}): Request => {
    return { method, url, headers, body: said, of: `${method} ${url} ${said ?? ''}` };
  };
  const queries = parametersOf(operation, 'query').map(({ name }) => {
    return made(`${path}?${asString(name)}=%00nothing&${asString(name)}=`);
  });
  const headers = parametersOf(operation, 'header').map(({ name }) => {
    return made(path, body, { [asString(name)]: 'nothing ""' });
  });
  const bodies = body === undefined ? [] : ['', '[]', '{', '7', '{"to":7,"method":7}'];
  return [made(nowhere), ...queries, ...headers, ...bodies.map((said) => made(path, said))];
}

/**
 * Every request that is shown: each parameter alone beside what is required, all of them at once,
 * each header alone, each body.
 */
export function requestsOf(document: JsonObject, operation: Operation, id: string): Request[] {
  const { method } = operation;
  const path = pathOf(document, operation, id);
  const pairOf = (parameter: JsonObject): string => pair(document, parameter);
  const isShown = (one: JsonObject): boolean => exampleOf(document, one) !== undefined;
  const shown = parametersOf(operation, 'query').filter(isShown);
  const needed = shown.filter(({ required }) => required === true);
  const queries = [
    needed,
    ...shown.filter((one) => !needed.includes(one)).map((one) => [...needed, one]),
    shown,
  ];
  const headers = parametersOf(operation, 'header').filter(isShown);
  const bodies = 'requestBody' in operation.is ? bodiesOf(document, operation) : [undefined];
  return bodies.flatMap((body) => [
    ...queries.map((query) => {
      const said = query.map(pairOf).join('&');
      const url = said === '' ? path : `${path}?${said}`;
      return { method, url, headers: {}, body, of: `${method} ${url} ${body ?? ''}` };
    }),
    ...headers.map((header) => {
      const one = { [asString(header['name'])]: asString(header['example']) };
      const url = needed.length === 0 ? path : `${path}?${needed.map(pairOf).join('&')}`;
      return { method, url, headers: one, body, of: `${method} ${url} ${JSON.stringify(one)}` };
    }),
  ]);
}

function pair(document: JsonObject, parameter: JsonObject): string {
  const example = exampleOf(document, parameter);
  const values: readonly unknown[] = Array.isArray(example) ? example : [example];
  const name = asString(parameter['name']);
  return values.map((one) => `${name}=${encodeURIComponent(String(one))}`).join('&');
}
