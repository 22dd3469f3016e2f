/** Finds the paths that a caller probably meant by one that does not exist. */
import { editDistance, wordDistance } from '../edit-distance.ts';

const MAX_SUGGESTED = 3;
/** Paths are suggested below this distance: that of one segment that has nothing in common. */
const MAX_DISTANCE = 1;
/** Only this many parts of the requested path are compared. */
const MAX_SEGMENTS = 8;
const MAX_SEGMENT_LENGTH = 40;
/** A word that differs by more resembles the other by chance. */
const MAX_WORD_DISTANCE = 0.4;
/** The beginning of a path of another API: `/api/v1/x` and `/v2/x`. */
const VERSION = /^\/(?:api\/)?v\d+(?=\/|$)/;

const PARAMETER = /^\{\w+\}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The nearest of the known paths, the best first. None if nothing is similar. `{id}` is filled in if the request
 * has an id there. `guesses`: known paths by the paths that callers try instead.
 */
export function nearestPaths(
  url: string,
  known: readonly string[],
  guesses: ReadonlyMap<string, string> = new Map(),
): string[] {
  const [path = ''] = url.split('?', 1);
  const requested = segmentsOf(path.replace(VERSION, '/api'));
  const guessed = guesses.get(`/${requested.join('/')}`);
  if (guessed !== undefined) return [guessed];
  const id = requested.find((segment) => UUID.test(segment));
  const closest = id === undefined ? MAX_WORD_DISTANCE : 1;
  const ranked = known
    .map((path) => ({ path, segments: segmentsOf(path) }))
    // Other counts of segments alone make the distance too large.
    .filter(
      ({ segments: { length } }) => length === requested.length || length === requested.length + 1,
    )
    .map(({ path, segments }) => ({
      path,
      distance: editDistance(requested, segments, (a, b) => segmentDistance(a, b, closest)),
    }))
    .filter(({ distance }) => distance < MAX_DISTANCE)
    .toSorted((a, b) => a.distance - b.distance);
  const exact = ranked.filter(({ distance }) => distance === 0);
  const nearest = exact.length > 0 ? exact : ranked.slice(0, MAX_SUGGESTED);
  return nearest.map(({ path }) => (id === undefined ? path : path.replace('{id}', id)));
}

function segmentsOf(path: string): string[] {
  const start = path.slice(0, MAX_SEGMENTS * MAX_SEGMENT_LENGTH).toLowerCase();
  const segments = start.split('/').filter((segment) => segment !== '');
  return segments.slice(0, MAX_SEGMENTS).map((segment) => segment.slice(0, MAX_SEGMENT_LENGTH));
}

/** 0 for the same segment, 1 for one that has nothing in common or differs by more than `closest`. */
function segmentDistance(requested: string, known: string, closest: number): number {
  if (known === '{id}') return UUID.test(requested) ? 0 : 1;
  if (PARAMETER.test(known)) return 0.5;
  const distance = wordDistance(requested, known);
  return distance > closest ? 1 : distance;
}
