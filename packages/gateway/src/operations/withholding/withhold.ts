/** Taking away what was said in entries, for good or until it is shown (PROTOCOL.md section 4.7). No door leads here. */
import { randomInt } from 'node:crypto';

import { entryHead } from '@open-presence/protocol';

import type { Entry, Seq, WithholdingState } from '../../log/log.ts';
import { readEntryText } from '../find-entry.ts';
import {
  selectEntries,
  type WithholdingContext,
  type WithholdingTarget,
} from './withholding-target.ts';

export interface WithholdingOrder extends WithholdingTarget {
  readonly state: WithholdingState;
  /** Is public. Undefined if they are only to be looked at. */
  readonly reason: string | undefined;
  /** Whether some at random are shown, not the first ones. */
  readonly isRandom: boolean;
}

/** How many are shown: the first, or some at random. */
const FIRST = 5;
const RANDOM = 20;
/** Larger ones are shown with their own members only. */
const MAX_SHOWN_SIZE = 16 * 1024;
const PROGRESS_INTERVAL_MS = 500;

/**
 * Yields the count so far as `{"counted":n}`, then some of the entries as `{"entry":…}`, and
 * `{"selected":n,"alreadyWithheld":n,"before":seq}`. With this `before` as a filter, the same selection has the
 * same entries later. `alreadyWithheld`: entries whose state would stay as it is. With a reason, `{"withheld":n}`
 * follows after the texts are gone, or back. n: how many entries have changed.
 */
export async function* withhold(
  context: WithholdingContext,
  { reason, state, isRandom, ...target }: WithholdingOrder,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { before, pages } = await selectEntries(context, target, signal);
  const seqs: Seq[] = [];
  let alreadyWithheld = 0;
  let reportedAt = performance.now();
  for await (const page of pages) {
    for (const { seq, state: earlier } of page)
      if (earlier === state || earlier === 'withheld') alreadyWithheld += 1;
      else seqs.push(seq);
    if (performance.now() - reportedAt <= PROGRESS_INTERVAL_MS) continue;
    reportedAt = performance.now();
    yield JSON.stringify({ counted: seqs.length + alreadyWithheld });
  }
  for (const seq of isRandom ? sampleOf(seqs) : seqs.slice(0, FIRST)) {
    const entry = await context.log.entry(seq, 'hidden');
    if (entry !== undefined) yield `{"entry":${await shownText(entry)}}`;
  }
  yield JSON.stringify({ selected: seqs.length, alreadyWithheld, before });
  if (reason === undefined) return;
  const changed = seqs.length === 0 ? 0 : await context.log.withhold(seqs, reason, state);
  yield JSON.stringify({ withheld: changed });
}

function sampleOf(seqs: readonly Seq[]): readonly Seq[] {
  if (seqs.length <= RANDOM) return seqs;
  const chosen = new Set<Seq>();
  while (chosen.size < RANDOM) chosen.add(seqs[randomInt(seqs.length)] ?? 0);
  return [...chosen];
}

async function shownText(entry: Entry): Promise<string> {
  if (entry.size > MAX_SHOWN_SIZE) return `${entryHead(entry.metadata)}}`;
  return await readEntryText(entry);
}
