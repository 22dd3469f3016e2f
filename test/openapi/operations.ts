/** The requests that an OpenAPI document shows. */
import {
  bodiesOf,
  exampleOf,
  pairOf,
  parametersOf,
  pathOf,
  type Operation,
} from '../../conformance/openapi-document.ts';
import { asObject, asString, type JsonObject } from '../../conformance/value.ts';

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** What it shows. */
  readonly of: string;
}

/** What is missing for all requests of an operation to be sent as they stand. */
export function lacks(document: JsonObject, operation: Operation): string[] {
  const { path, method, is } = operation;
  const name = `${method} ${path}`;
  // An id comes from the answer that created the entry.
  const needed = [...parametersOf(operation, 'path'), ...parametersOf(operation, 'query')]
    .filter((one) => one['required'] === true && one['name'] !== 'id')
    .filter((one) => exampleOf(document, one) === undefined)
    .map((one) => `${name}: ${asString(one['name'])} has no example`);
  const body = 'requestBody' in is && bodiesOf(document, operation).length === 0;
  return [
    ...needed,
    ...(body ? [`${name}: its body has no example`] : []),
    ...('default' in asObject(is['responses']) ? [] : [`${name}: no error is described`]),
  ];
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
  const spelled = (parameter: JsonObject): string => pairOf(document, parameter);
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
      const said = query.map(spelled).join('&');
      const url = said === '' ? path : `${path}?${said}`;
      return { method, url, headers: {}, body, of: `${method} ${url} ${body ?? ''}` };
    }),
    ...headers.map((header) => {
      const one = { [asString(header['name'])]: asString(header['example']) };
      const url = needed.length === 0 ? path : `${path}?${needed.map(spelled).join('&')}`;
      return { method, url, headers: one, body, of: `${method} ${url} ${JSON.stringify(one)}` };
    }),
  ]);
}
