/** How something is said by GET (PROTOCOL.md section 16). */
import type { Kind } from '@open-presence/protocol';

/** The path and query that say this body; of its members only those with texts. */
export function sayPath(kind: Kind, body: unknown): string {
  const pairs = Object.entries(typeof body === 'object' && body !== null ? body : {}).flatMap(
    ([name, value]: [string, unknown]) => {
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      return values.flatMap((one) =>
        typeof one === 'string' ? [`${encodeURIComponent(name)}=${encodeURIComponent(one)}`] : [],
      );
    },
  );
  return pairs.length === 0 ? `/api/say/${kind}` : `/api/say/${kind}?${pairs.join('&')}`;
}
