/** An OpenAPI document without the references that clients resolve before they read operations. */
import { asArray, asObject, type JsonObject } from './value.ts';

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
