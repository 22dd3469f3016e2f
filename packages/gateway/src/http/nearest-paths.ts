/** Finds the paths that a caller probably meant by one that does not exist. */
import { editDistance, wordDistance } from '../edit-distance.ts';

const MAX_SUGGESTED = 3;
/** Paths are suggested below this distance: that of one segment that has nothing in common. */
const MAX_DISTANCE = 1;
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
      distance: editDistance(requested, segments, segmentDistance),
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
  return wordDistance(requested, known);
}
