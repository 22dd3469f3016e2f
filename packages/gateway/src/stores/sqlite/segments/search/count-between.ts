/** Counts the entries of a kind or a room between seqs. */
import { Turns } from '../../../../fair-turns.ts';
import { facet as facetOf, type Facet } from '../../../../log/facet.ts';
import type { Seq } from '../../../../log/log.ts';
import type { SeqRange } from '../../seq-source.ts';
import type { IndexConnection } from '../segment-database.ts';
import { type FacetSources, placeOf } from './facet-source.ts';
import { largeRowId, lastLargeRowId, MatchQuery } from './match-query.ts';
import { takeSteps } from './search-turns.ts';

/** Entries that are counted in a step: in a segment, and in the log. */
const STEP = 65_536;
const LOG_STEP = 2048;

const COUNT = 'SELECT count(*) AS count FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?';

/** From each bound up to before the next. */
export async function countBetween(
  sources: FacetSources,
  facet: Facet,
  bounds: readonly Seq[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const turns = new Turns();
  const counts: number[] = [];
  for (const [index, low] of bounds.slice(0, -1).entries()) {
    const high = (bounds[index + 1] ?? low) - 1;
    let count = 0;
    for (let at = low; at <= high;) {
      signal?.throwIfAborted();
      const step = await countFrom(sources, facet, { low: at, high }, turns);
      count += step.count;
      at = step.next;
    }
    counts.push(count);
  }
  return counts;
}

/** Counts the first of these seqs. */
async function countFrom(
  { reader, scan, shared }: FacetSources,
  facet: Facet,
  { low, high }: SeqRange,
  turns: Turns,
): Promise<{ readonly count: number; readonly next: Seq }> {
  const place = placeOf(low, shared);
  const end = Math.min(high, place.high);
  if (place.segment !== undefined) {
    const isWhole = low === place.low && end === shared.segments.lastOf(place.segment);
    const to = isWhole ? end : Math.min(end, low + STEP - 1);
    const read = (index: IndexConnection): number =>
      isWhole ? countAll(index, facet) : countRows(index, facet, { low, high: to });
    const found = await takeSteps(reader.steps(place.segment, read), turns);
    if (turns.isOver) await turns.next();
    if (found !== undefined) return { count: found.value, next: to + 1 };
  }
  const to = Math.min(end, low + LOG_STEP - 1);
  const seqs = await scan.seqsWith([facet], { from: low, to }, turns);
  return { count: seqs.length, next: to + 1 };
}

/** Of all entries of a segment. */
function countAll(index: IndexConnection, facet: Facet): number {
  const rows = index.statement('SELECT room, kind, count FROM counts').all();
  return rows.reduce((sum, { room, kind, count }) => {
    const facets = [facetOf('room', String(room)), facetOf('kind', String(kind))];
    const has = facets.some((one) => Buffer.compare(one, facet) === 0);
    return sum + (has ? Number(count) : 0);
  }, 0);
}

/** An entry has a facet once: also a large one, in one of its rows. */
function countRows(index: IndexConnection, facet: Facet, { low, high }: SeqRange): number {
  const [query = ''] = new MatchQuery({ facets: [facet] }).first.queries();
  const count = index.statement(COUNT);
  const small = count.get(query, low, high)?.['count'];
  const large = count.get(query, largeRowId(low, 0), lastLargeRowId(high))?.['count'];
  return Number(small) + Number(large);
}
