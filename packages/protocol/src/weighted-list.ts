/** Readers of the comma-separated lists in request headers (RFC 9110 section 5.6.1). */

export interface WeightedElement {
  /** In lower case, without parameters. */
  readonly name: string;
  /** All parameters, or undefined where there are none. */
  readonly parameters: string | undefined;
}

/** Yields the elements one at a time: a hostile list may hold more of them than an array should. */
export function* listElements(list: string): Generator<string, void, undefined> {
  let start = 0;
  for (let end = list.indexOf(','); end !== -1; end = list.indexOf(',', start)) {
    yield list.slice(start, end);
    start = end + 1;
  }
  yield list.slice(start);
}

const patterns = new Map<string, RegExp>();

/**
 * Yields the elements whose names match `names`, the source of a regular expression. The others take no
 * step each: a list of 1 MiB may have half a million.
 */
export function* weightedList(
  list: string,
  names: string,
): Generator<WeightedElement, void, undefined> {
  let pattern = patterns.get(names);
  pattern ??= new RegExp(`(?:^|,)\\s*(${names})\\s*(?:;([^,]*))?(?=,|$)`, 'gi');
  patterns.set(names, pattern);
  for (const [, name = '', parameters] of list.matchAll(pattern))
    yield { name: name.toLowerCase(), parameters };
}

const WEIGHT = /(?:^|;)\s*q\s*=\s*([01](?:\.\d*)?)\s*(?:;|$)/i;

/** The parameter `q` (RFC 9110 section 12.4.2); 1 where it is absent or malformed. */
export function weightIn({ parameters }: WeightedElement): number {
  return parameters === undefined ? 1 : Number(WEIGHT.exec(parameters)?.[1] ?? 1);
}
