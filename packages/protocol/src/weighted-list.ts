/** Reads the comma-separated lists in request headers (RFC 9110 section 5.6.1). */

export interface WeightedElement {
  /** In lower case, without parameters. */
  readonly name: string;
  /** All parameters; undefined if there are none. */
  readonly parameters: string | undefined;
}

const patterns = new Map<string, RegExp>();

function elementPattern(names: readonly string[]): RegExp {
  const any = names.map((name) => name.replaceAll(/[.+*]/g, String.raw`\$&`)).join('|');
  return new RegExp(`(?:^|,)\\s*(${any})\\s*(?:;([^,]*))?(?=,|$)`, 'gi');
}

/** Yields the first element with each name (in lower case). */
export function* weightedList(
  list: string,
  names: readonly string[],
): Generator<WeightedElement, void, undefined> {
  const key = names.join(' ');
  const pattern = patterns.get(key) ?? elementPattern(names);
  patterns.set(key, pattern);
  const missing = new Set(names);
  for (const [, found = '', parameters] of list.matchAll(pattern)) {
    const name = found.toLowerCase();
    if (missing.delete(name)) yield { name, parameters };
  }
}

const WEIGHT = /(?:^|;)\s*q\s*=\s*([01](?:\.\d*)?)\s*(?:;|$)/i;

/** The parameter `q` (RFC 9110 section 12.4.2); 1 if it is absent or malformed. */
export function weightIn({ parameters }: WeightedElement): number {
  return parameters === undefined ? 1 : Number(WEIGHT.exec(parameters)?.[1] ?? 1);
}
