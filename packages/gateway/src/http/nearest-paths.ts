/** Finds the paths that a caller probably meant by one that does not exist. */

const MAX_SUGGESTED = 3;
/** Paths are suggested below this distance: that of one segment that has nothing in common. */
const MAX_DISTANCE = 1;
/** Of adding an element; removing one costs 1, replacing one at most 1. */
const ADDING = 0.5;
/** Of what was requested, the rest of a longer path is not looked at. */
const MAX_SEGMENTS = 8;
const MAX_SEGMENT_LENGTH = 40;

const PARAMETER = /^\{\w+\}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The nearest of the known paths, the best first; none if nothing is similar. `{id}` is filled in
 * where the request has an id there.
 */
export function nearestPaths(url: string, known: readonly string[]): string[] {
  const requested = segmentsOf(url.split('?', 1)[0] ?? '');
  const ranked = known
    .map((path) => ({ path, segments: segmentsOf(path) }))
    // Other counts of segments alone make the distance too large.
    .filter(
      ({ segments: { length } }) => length === requested.length || length === requested.length + 1,
    )
    .map(({ path, segments }) => ({
      path,
      distance: distanceOf(requested, segments, segmentDistance),
    }))
    .filter(({ distance }) => distance < MAX_DISTANCE)
    .toSorted((a, b) => a.distance - b.distance);
  const exact = ranked.filter(({ distance }) => distance === 0);
  const nearest = exact.length > 0 ? exact : ranked.slice(0, MAX_SUGGESTED);
  const id = requested.find((segment) => UUID.test(segment));
  return nearest.map(({ path }) => (id === undefined ? path : path.replace('{id}', id)));
}

function segmentsOf(path: string): string[] {
  const start = path.slice(0, MAX_SEGMENTS * MAX_SEGMENT_LENGTH).toLowerCase();
  const segments = start.split('/').filter((segment) => segment !== '');
  return segments.slice(0, MAX_SEGMENTS).map((segment) => segment.slice(0, MAX_SEGMENT_LENGTH));
}

/** From 0 for the same segment to 1 for one that has nothing in common. */
function segmentDistance(requested: string, known: string): number {
  if (known === '{id}') return UUID.test(requested) ? 0 : 1;
  if (PARAMETER.test(known)) return 0.5;
  if (requested === known) return 0;
  const length = Math.max(requested.length, known.length);
  if (2 * Math.min(requested.length, known.length) < length) return 1;
  const characters = distanceOf(requested.split(''), known.split(''), (a, b) => (a === b ? 0 : 1));
  return characters / length;
}

/** The edit distance: the least cost of removing, adding and replacing elements. */
function distanceOf(
  from: readonly string[],
  to: readonly string[],
  replacing: (from: string, to: string) => number,
): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => ADDING * index);
  for (const [index, element] of from.entries()) {
    const next = [index + 1];
    for (const [at, other] of to.entries()) {
      const replaced = (row[at] ?? 0) + replacing(element, other);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + ADDING));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
