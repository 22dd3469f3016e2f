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

export function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

function parametersOf({ is }: Operation, place: string): JsonObject[] {
  const all = asArray(is['parameters'] ?? []).map(asObject);
  return all.filter((parameter) => parameter['in'] === place);
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
  const { is } = operation;
  const name = nameOf(operation);
  const linked = linkedIn(document).has(asString(is['operationId']));
  const needed = [...parametersOf(operation, 'path'), ...parametersOf(operation, 'query')]
    .filter(({ in: place, required }) => required === true && !(linked && place === 'path'))
    .filter((parameter) => !('example' in parameter))
    .map((parameter) => `${name}: ${asString(parameter['name'])} has no example`);
  const body = 'requestBody' in is && bodiesOf(operation).length === 0;
  const successes = successesOf(operation);
  const shown = successes.flatMap(([, { content = {} }]) =>
    Object.values(asObject(content)).filter((media) => {
      return 'example' in asObject(media) || 'examples' in asObject(media);
    }),
  );
  const errors = Object.keys(asObject(is['responses'])).filter((status) => status >= '400');
  return [
    ...needed,
    ...(body ? [`${name}: its body has no example`] : []),
    ...(successes.length === 0 ? [`${name}: nothing but errors`] : []),
    ...(shown.length === 0 ? [`${name}: no answer is shown`] : []),
    ...(errors.length === 0 ? [`${name}: no error is described`] : []),
  ];
}

function bodiesOf({ is }: Operation): [string, string][] {
  if (!('requestBody' in is)) return [];
  const content = asObject(asObject(is['requestBody'])['content']);
  const { examples = {} } = asObject(content['application/json']);
  return Object.entries(asObject(examples)).map(([name, example]) => {
    return [name, JSON.stringify(asObject(example)['value'])];
  });
}

/** Path with its examples; an id is one that a link told. */
function pathOf(operation: Operation, id: string): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parametersOf(operation, 'path').find((one) => one['name'] === name);
    return encodeURIComponent(asString(found?.['example'] ?? id));
  });
}

/** Each form that an answer to `GET` is said to have, and how it is asked for. */
export function formsOf(operation: Operation, id: string): (Request & { readonly type: string })[] {
  const { method } = operation;
  if (method !== 'GET' || operation.path.startsWith('/api/say/')) return [];
  const [plain] = requestsOf(operation, id);
  const types = successesOf(operation).flatMap(([, { content = {} }]) =>
    Object.keys(asObject(content)),
  );
  if (plain === undefined) return [];
  return types.map((type) => {
    return { ...plain, headers: { accept: type }, type, of: `${plain.of} as ${type}` };
  });
}

/** Mistakes: each parameter with a value that means nothing, bodies that are no message, no such id. */
export function mistakesOf(operation: Operation): Request[] {
  const { method } = operation;
  const path = pathOf(operation, 'nothing');
  const nowhere = operation.path.replaceAll(/\{\w+\}/g, 'nothing');
  const [body] = 'requestBody' in operation.is ? bodiesOf(operation) : [];
  const made = (url: string, said = body?.[1], headers = {}): Request => {
    return { method, url, headers, body: said, of: `${method} ${url} ${said ?? ''}` };
  };
  const queries = parametersOf(operation, 'query').map(({ name }) => {
    return made(`${path}?${asString(name)}=%00nothing&${asString(name)}=`);
  });
  const headers = parametersOf(operation, 'header').map(({ name }) => {
    return made(path, body?.[1], { [asString(name)]: 'nothing ""' });
  });
  const bodies = body === undefined ? [] : ['', '[]', '{', '7', '{"to":7,"method":7}'];
  return [made(nowhere), ...queries, ...headers, ...bodies.map((said) => made(path, said))];
}

function pair({ name, example }: JsonObject): string {
  const values: readonly unknown[] = Array.isArray(example) ? example : [example];
  const spelled = values.map((one) => `${asString(name)}=${encodeURIComponent(String(one))}`);
  return spelled.join('&');
}

/**
 * Every request that is shown: each parameter alone beside what is required, all of them at once,
 * each header alone, each body.
 */
export function requestsOf(operation: Operation, id: string): Request[] {
  const { method } = operation;
  const path = pathOf(operation, id);
  const shown = parametersOf(operation, 'query').filter((one) => 'example' in one);
  const needed = shown.filter(({ required }) => required === true);
  const queries = [
    needed,
    ...shown.filter((one) => !needed.includes(one)).map((one) => [...needed, one]),
    shown,
  ];
  const headers = parametersOf(operation, 'header').filter((one) => 'example' in one);
  const bodies = 'requestBody' in operation.is ? bodiesOf(operation) : [['', undefined] as const];
  return bodies.flatMap(([name, body]) => [
    ...queries.map((query) => {
      const said = query.map(pair).join('&');
      const url = said === '' ? path : `${path}?${said}`;
      return { method, url, headers: {}, body, of: `${method} ${url} ${name}` };
    }),
    ...headers.map((header) => {
      const one = { [asString(header['name'])]: asString(header['example']) };
      const url = needed.length === 0 ? path : `${path}?${needed.map(pair).join('&')}`;
      return { method, url, headers: one, body, of: `${method} ${url} ${JSON.stringify(one)}` };
    }),
  ]);
}
