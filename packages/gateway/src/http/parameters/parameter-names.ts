/**
 * The names of parameters as this contract spells them (PROTOCOL.md section 1.7). Callers percent-encode names,
 * write lists as `NAME[]` or `NAME[0]`, and copy `&amp;` from a page.
 */
import { canonicalName } from '../../near-names.ts';

/** What may be in a name that is spelled otherwise. */
const UNUSUAL = /[%+[]|amp;/;
/** Longer names are none of ours, however they are encoded. */
const MAX_LENGTH = 128;

/** A query, or whole pairs of one, with each known name as it is usually spelled. */
export function canonicalNames(query: string, known: ReadonlySet<string>): string {
  if (!UNUSUAL.test(query)) return query;
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const nameEnd = equals === -1 ? pair.length : equals;
      if (nameEnd > MAX_LENGTH) return pair;
      const name = pair.slice(0, nameEnd);
      if (!UNUSUAL.test(name)) return pair;
      const canonical = canonicalName(decoded(name));
      return known.has(canonical) ? canonical + pair.slice(nameEnd) : pair;
    })
    .join('&');
}

function decoded(name: string): string {
  const [first] = new URLSearchParams(`&${name}`).keys();
  return first ?? '';
}
