import { rawMembers } from './raw-json.ts';

/** The names of the members in which two objects differ as values. Throws a `RangeError` if they are nested too deep. */
export async function differingMembers(first: Buffer, second: Buffer): Promise<string[]> {
  const [ours, theirs] = [await canonicalMembers(first), await canonicalMembers(second)];
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  return [...names].filter((name) => ours.get(name) !== theirs.get(name));
}

/** The values of each name, in their order, in one spelling. */
async function canonicalMembers(object: Buffer): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const { name = '', valueStart, end } of await rawMembers(object)) {
    const value = JSON.stringify(JSON.parse(object.toString('utf8', valueStart, end), canonical));
    values.set(name, `${values.get(name) ?? ''},${value}`);
  }
  return values;
}

/** Numbers become strings as they are spelled, apart from other strings. */
function canonical(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === 'number') return `number ${context?.source}`;
  if (typeof value === 'string') return `string ${value}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
