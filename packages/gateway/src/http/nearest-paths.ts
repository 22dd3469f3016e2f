/** Finds the paths that a caller probably meant by one that does not exist. */

/** Paths that callers try instead, by the known path that has what they look for. */
export type Guesses = Readonly<Record<string, readonly string[]>>;

/** The beginning of a path of another API: `/api/v1/x` and `/v2/x`. */
const VERSION = /^(?:\/api)?\/v\d+(?=\/|$)/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Longer paths than any known one are not compared. */
const MAX_LENGTH = 256;

/**
 * The known paths that differ only by case, slashes, a plural, a version or a missing `/api`, or the path
 * that a guess leads to. `{id}` is filled in if the request has an id there.
 */
export function nearestPaths(
  url: string,
  known: readonly string[],
  guesses: Guesses = {},
): string[] {
  const [path = ''] = url.slice(0, MAX_LENGTH).split('?', 1);
  const requested = segmentsOf(path.replace(VERSION, '/api'));
  const guess = `/${requested.join('/')}`;
  const [guessed] = Object.entries(guesses).find(([, tried]) => tried.includes(guess)) ?? [];
  if (guessed !== undefined) return [guessed];
  const id = requested.find((segment) => UUID.test(segment));
  if (id !== undefined)
    return known.filter((one) => one === '/api/entries/{id}').map((one) => one.replace('{id}', id));
  const meant = plain(requested);
  return known.filter((one) => {
    const segments = plain(segmentsOf(one));
    return (
      segments.length === meant.length &&
      segments.every((segment, at) => segment === meant[at] || segment.startsWith('{'))
    );
  });
}

function segmentsOf(path: string): string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '');
}

/** Without what callers often spell otherwise. */
function plain(segments: readonly string[]): string[] {
  return segments
    .filter((segment, at) => at > 0 || segment !== 'api')
    .map((segment) => segment.replaceAll(/[-_]/g, '').replace(/s$/, ''));
}
