/** Counts the entries with a facet between seqs: those of a kind, of a room, or that answer an entry. */
import { Turns } from '../../../../fair-turns.ts';
import { facet as facetOf, type Facet } from '../../../../log/facet.ts';
import type { Seq } from '../../../../log/log.ts';
import type { SeqRange } from '../../seq-source.ts';
import type { IndexConnection } from '../segment-database.ts';
import { type FacetSources, placeOf } from './facet-source.ts';
import { seqsWith } from './log-scan.ts';
import { IN_ROWS, MatchQuery } from './match-query.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

/** Entries that are counted in a step: in a segment, and in the log. */
const STEP = 65_536;
const LOG_STEP = 2048;

const COUNT = `SELECT count(*) AS count FROM texts WHERE texts MATCH ? AND ${IN_ROWS}`;

/** From each bound up to before the next. */
export async function countBetween(
  sources: FacetSources,
  facet: Facet,
  bounds: readonly Seq[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const turns = new Turns(signal);
  const counts: number[] = [];
  for (const [index, low] of bounds.slice(0, -1).entries()) {
    const range = { low, high: (bounds[index + 1] ?? low) - 1 };
    counts.push(await takeSteps(countIn(sources, facet, range), turns, signal));
  }
  return counts;
}

function* countIn(
  sources: FacetSources,
  facet: Facet,
  { low, high }: SeqRange,
): SearchSteps<number> {
  const { reader, shared } = sources;
  let count = 0;
  for (let at = low; at <= high;) {
    yield;
    const place = placeOf(at, shared);
    const end = Math.min(high, place.high);
    if (place.segment !== undefined) {
      const isWhole = at === place.low && end === shared.segments.lastOf(place.segment);
      const range = { low: at, high: isWhole ? end : Math.min(end, at + STEP - 1) };
      const found = yield* reader.steps(
        place.segment,
        (index) => (isWhole ? countAll(index, facet) : undefined) ?? countRows(index, facet, range),
      );
      if (found !== undefined) {
        count += found.value;
        at = range.high + 1;
        continue;
      }
    }
    const to = Math.min(end, at + LOG_STEP - 1);
    count += (yield* seqsWith(sources, [facet], { from: at, to })).length;
    at = to + 1;
  }
  return count;
}

/** Counts the entries of a whole segment, if it has any of a kind or room whose facet this is. */
function countAll(index: IndexConnection, facet: Facet): number | undefined {
  const rows = index.statement('SELECT room, kind, count FROM counts').all();
  const counts = rows.flatMap(({ room, kind, count }) => {
    const facets = [facetOf('room', String(room)), facetOf('kind', String(kind))];
    return facets.some((one) => Buffer.compare(one, facet) === 0) ? [Number(count)] : [];
  });
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count);
}

function countRows(index: IndexConnection, facet: Facet, { low, high }: SeqRange): number {
  const [query = ''] = new MatchQuery({ facets: [facet] }).first();
  return Number(index.statement(COUNT).get(query, low, high)?.['count']);
}
