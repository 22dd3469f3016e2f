/** Readers of the comma-separated lists in request headers (RFC 9110 section 5.6.1). */

export interface WeightedElement {
  /** In lower case, without parameters. */
  readonly name: string;
  /** All parameters, or undefined where there are none. */
  readonly parameters: string | undefined;
  /** The parameter `q` (RFC 9110 section 12.4.2); 1 where it is absent or malformed. */
  readonly weight: number;
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

const WEIGHT = /(?:^|;)\s*q\s*=\s*([01](?:\.\d*)?)\s*(?:;|$)/i;

/** Skips empty elements. Takes time in proportion to the header's length. */
export function* weightedList(header: string): Generator<WeightedElement, void, undefined> {
  for (const element of listElements(header)) {
    const end = element.indexOf(';');
    const name = (end === -1 ? element : element.slice(0, end)).trim().toLowerCase();
    const parameters = end === -1 ? undefined : element.slice(end + 1);
    const weight = parameters === undefined ? 1 : Number(WEIGHT.exec(parameters)?.[1] ?? 1);
    if (name !== '') yield { name, parameters, weight };
  }
}
