/**
 * Moves what an OpenAPI document repeats into its components: parameters, bodies and responses of
 * operations, then headers, links and examples within these. The result means the same, in less than
 * half the space.
 */
import type { JsonObject } from '../../http/route-description.ts';
import { toJsonObject } from '../../json/json-object.ts';

/** Called for each value that may be shared; returns what to put in its place. */
type Visit = (section: Section, name: string, value: unknown) => unknown;
type Section = 'parameters' | 'requestBodies' | 'responses' | 'headers' | 'links' | 'examples';
/** A copy of the document with the visitor's results. */
type Rewrite = (document: JsonObject, visit: Visit) => JsonObject;

/** A reference is about as long. */
const MIN_SIZE = 60;

export function shareComponents(document: JsonObject): JsonObject {
  return [rewriteOperations, rewriteParts].reduce(shareRepeated, document);
}

function shareRepeated(document: JsonObject, rewrite: Rewrite): JsonObject {
  const counts = new Map<string, number>();
  rewrite(document, (section, _, value) => {
    const key = section + JSON.stringify(value);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return value;
  });
  const shared = new SharedComponents(toJsonObject(document['components']));
  const rewritten = rewrite(document, (section, name, value) => {
    const json = JSON.stringify(value);
    const isRepeated = (counts.get(section + json) ?? 0) > 1;
    return isRepeated && json.length > MIN_SIZE ? shared.reference(section, name, value) : value;
  });
  return shared.addTo(rewritten);
}

class SharedComponents {
  /** By section and name. */
  readonly #components: Map<string, Map<string, unknown>>;
  /** By section and JSON. */
  readonly #names = new Map<string, string>();

  constructor(components: JsonObject) {
    const sections = Object.entries(components).map(([section, values]) => {
      return [section, new Map(Object.entries(toJsonObject(values)))] as const;
    });
    this.#components = new Map(sections);
  }

  reference(section: Section, proposed: string, value: unknown): JsonObject {
    const values = this.#components.get(section) ?? new Map<string, unknown>();
    this.#components.set(section, values);
    const key = section + JSON.stringify(value);
    const name = this.#names.get(key) ?? unusedName(values, proposed);
    this.#names.set(key, name);
    values.set(name, value);
    return { $ref: `#/components/${section}/${name}` };
  }

  addTo(document: JsonObject): JsonObject {
    const existing = toJsonObject(document['components']);
    const sections = Array.from(this.#components, ([section, values]) => {
      const own = Object.fromEntries(values);
      return [section, { ...own, ...toJsonObject(existing[section] ?? {}) }] as const;
    });
    return { ...document, components: Object.fromEntries(sections) };
  }
}

function unusedName(values: ReadonlyMap<string, unknown>, proposed: string): string {
  let name = proposed;
  for (let count = 2; values.has(name); count++) name = `${proposed}${count}`;
  return name;
}

/** Visits parameters, bodies and responses. */
function rewriteOperations(document: JsonObject, visit: Visit): JsonObject {
  return rewriteEachOperation(document, ({ parameters, requestBody, responses, ...rest }, id) => ({
    ...rest,
    ...(Array.isArray(parameters) && parameters.length > 0
      ? { parameters: parameters.map((value) => visit('parameters', nameOf(value), value)) }
      : {}),
    ...(requestBody === undefined ? {} : { requestBody: visit('requestBodies', id, requestBody) }),
    responses: mapMembers(responses, (value) => visit('responses', schemaOf(value) ?? id, value)),
  }));
}

/** Visits headers, links and examples, also in what is shared already. */
function rewriteParts(document: JsonObject, visit: Visit): JsonObject {
  const rewritten = rewriteEachOperation(document, ({ responses, ...rest }) => ({
    ...rest,
    responses: mapMembers(responses, (value) => rewriteResponse(value, visit)),
  }));
  const components = toJsonObject(document['components']);
  const responses = mapMembers(components['responses'], (value) => rewriteResponse(value, visit));
  return { ...rewritten, components: { ...components, responses } };
}

function rewriteResponse(response: unknown, visit: Visit): JsonObject {
  const { headers, links, content, ...rest } = toJsonObject(response);
  return {
    ...rest,
    ...(headers === undefined
      ? {}
      : { headers: mapMembers(headers, (value, name) => visit('headers', name, value)) }),
    ...(content === undefined
      ? {}
      : { content: mapMembers(content, (value, type) => rewriteMedia(value, type, visit)) }),
    ...(links === undefined
      ? {}
      : { links: mapMembers(links, (value, name) => visit('links', name, value)) }),
  };
}

/** `example` cannot be a reference, but a member of `examples` can. */
function rewriteMedia(media: unknown, type: string, visit: Visit): JsonObject {
  const { example, ...rest } = toJsonObject(media);
  if (example === undefined) return rest;
  const name = schemaName(toJsonObject(rest['schema'])) ?? subtypeOf(type);
  const visited = visit('examples', name, { value: example });
  const isShared = '$ref' in toJsonObject(visited);
  return { ...rest, ...(isShared ? { examples: { [name]: visited } } : { example }) };
}

function rewriteEachOperation(
  document: JsonObject,
  rewrite: (operation: JsonObject, id: string) => JsonObject,
): JsonObject {
  const paths = mapMembers(document['paths'], (item) =>
    mapMembers(item, (value) => {
      const operation = toJsonObject(value);
      return rewrite(operation, String(operation['operationId']));
    }),
  );
  return { ...document, paths };
}

function mapMembers(value: unknown, map: (member: unknown, name: string) => unknown): JsonObject {
  const members = Object.entries(toJsonObject(value));
  return Object.fromEntries(members.map(([name, member]) => [name, map(member, name)]));
}

function nameOf(parameter: unknown): string {
  return String(toJsonObject(parameter)['name']);
}

/** `atom` of `application/atom+xml`. */
function subtypeOf(type: string): string {
  return type.replaceAll(/^.*\/|\+.*$/g, '');
}

/** The name of the schema of a response's first content. */
function schemaOf(response: unknown): string | undefined {
  const [media] = Object.values(toJsonObject(toJsonObject(response)['content'] ?? {}));
  return schemaName(toJsonObject(toJsonObject(media ?? {})['schema'] ?? {}));
}

function schemaName({ $ref: reference }: JsonObject): string | undefined {
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}
