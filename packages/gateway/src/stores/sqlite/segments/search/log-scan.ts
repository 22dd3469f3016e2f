/** Finds entries by their facets in the log itself, where no segment can be read. */
import { FACET_SIZE, type Facet, type FacetCondition, facetsIn } from '../../../../log/facet.ts';
import { isDerived } from '../../../../log/concern.ts';
import type { Seq } from '../../../../log/log.ts';
import type { RowReader, SeqSpan } from '../../log/row-reader.ts';
import type { SearchSteps } from './search-steps.ts';

/** More facets are found in a set. */
const MAX_FEW = 8;
/** Entries that are looked at in a step. */
const STEP = 16;

/** Whether one of the facets of a condition is among these. */
type FacetTest = (facets: Buffer) => boolean;

export interface ScannedLog {
  readonly log: RowReader;
}

/** Ascending. Leaves out what cannot be read. */
export function* seqsWith(
  { log }: ScannedLog,
  conditions: readonly FacetCondition[],
  span: SeqSpan,
): SearchSteps<Seq[]> {
  const seqs: Seq[] = [];
  const isDeep = conditions.some(hasDerived);
  for (const row of log.rows(span)) {
    if (row.seq % STEP === 0) yield;
    const facets = isDeep
      ? Buffer.concat([row.facets, log.answered.derived(row).facets])
      : row.facets;
    if (testsOf(conditions).every((test) => test(facets))) seqs.push(row.seq);
  }
  return seqs;
}

function hasDerived(condition: FacetCondition): boolean {
  if (condition instanceof Uint8Array)
    return condition.length === FACET_SIZE && isDerived(condition);
  return condition.slice(0, MAX_FEW).some(isDerived);
}

/** A test for each condition: that an entry has its facet, or any facet of its list. */
function* testsOf(conditions: readonly FacetCondition[]): Generator<FacetTest, void, undefined> {
  for (const condition of conditions) {
    if (condition instanceof Uint8Array)
      // A match between two facets would be one of 128 bits of their digests.
      for (const facet of facetsIn(condition)) yield (facets) => facets.indexOf(facet) >= 0;
    else if (condition.length <= MAX_FEW)
      yield (facets) => condition.some((facet) => facets.indexOf(facet) >= 0);
    else yield listTest(condition);
  }
}

const sets = new WeakMap<readonly Facet[], ReadonlySet<string>>();

function listTest(list: readonly Facet[]): FacetTest {
  const keys =
    sets.get(list) ?? new Set(list.map((facet) => Buffer.from(facet).toString('latin1')));
  sets.set(list, keys);
  return (facets) => {
    for (let at = 0; at < facets.length; at += FACET_SIZE)
      if (keys.has(facets.toString('latin1', at, at + FACET_SIZE))) return true;
    return false;
  };
}
