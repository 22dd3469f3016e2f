/** An OpenAPI document as a caller reads it. */
import { asArray, asObject, asString, type JsonObject } from './value.ts';

export interface Operation {
  /** As the document has it. */
  readonly path: string;
  /** In capitals. */
  readonly method: string;
  readonly is: JsonObject;
}

const SCHEMAS = '#/components/schemas/';

/** References to schemas stay. Parameters of a path become parameters of each of its operations. */
export function inlineReferences(document: JsonObject): JsonObject {
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref: reference } = asObject(value);
    if (typeof reference === 'string' && !reference.startsWith(SCHEMAS)) {
      return inlined(valueAt(document, reference));
    }
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inlined(part)]));
  };
  const paths = Object.entries(asObject(inlined(document['paths']))).map(([path, item]) => {
    const { parameters: shared = [], ...operations } = asObject(item);
    const merged = Object.entries(operations).map(([method, operation]) => {
      const { parameters = [], ...rest } = asObject(operation);
      return [
        method,
        { ...rest, parameters: [...asArray(shared), ...asArray(parameters)] },
      ] as const;
    });
    return [path, Object.fromEntries(merged)] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** What a JSON pointer, as the fragment of a URL, refers to. */
function valueAt(document: JsonObject, reference: string): unknown {
  const steps = reference.split('/').slice(1);
  return steps.reduce<unknown>(
    (value, step) =>
      asObject(value)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
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
  return asObject(reference === undefined ? schema : valueAt(document, asString(reference)));
}

/** A value of a parameter: its example, or the first that is listed. */
export function exampleOf(document: JsonObject, { example, schema }: JsonObject): unknown {
  if (example !== undefined) return example;
  const [first] = asArray(asObject(schema)['anyOf'] ?? [schema]);
  return asArray(schemaAt(document, first)['enum'] ?? [])[0];
}

/** The bodies that an operation shows. */
export function bodiesOf(document: JsonObject, { is }: Operation): string[] {
  if (!('requestBody' in is)) return [];
  const content = asObject(asObject(is['requestBody'])['content']);
  const { schema } = asObject(content['application/json']);
  const { examples = [] } = schemaAt(document, schema);
  return asArray(examples).map((example) => JSON.stringify(example));
}

/** The path with the examples of its variable parts; an id, which has none, is the one given. */
export function pathOf(document: JsonObject, operation: Operation, id: string): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parametersOf(operation, 'path').find((one) => one['name'] === name);
    return encodeURIComponent(asString(exampleOf(document, found ?? {}) ?? id));
  });
}

/** A parameter of the query with its example. */
export function pairOf(document: JsonObject, parameter: JsonObject): string {
  const example = exampleOf(document, parameter);
  const values: readonly unknown[] = Array.isArray(example) ? example : [example];
  const name = asString(parameter['name']);
  return values.map((one) => `${name}=${encodeURIComponent(String(one))}`).join('&');
}
