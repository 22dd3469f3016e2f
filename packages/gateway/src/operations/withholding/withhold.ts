/** Taking away what was said in entries, for good or until it is shown (PROTOCOL.md section 4.7). No door leads here. */
import { randomInt } from 'node:crypto';

import { entryHead } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import type { Entry, Seq, WithholdingState } from '../../log/log.ts';
import { readEntryText } from '../find-entry.ts';
import {
  selectEntries,
  type WithholdingContext,
  type WithholdingTarget,
} from './withholding-target.ts';

export interface WithholdingOrder extends WithholdingTarget {
  readonly state: WithholdingState;
  /** Is public. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

/** How many are shown: the first, or some at random. */
const FIRST = 5;
const RANDOM = 20;
/** Larger ones are shown with their own members only. */
const MAX_SHOWN_SIZE = 16 * 1024;
const PROGRESS_INTERVAL_MS = 500;

/**
 * Yields some of the entries as `{"entry":…}`, the count so far as `{"counted":n}`, and at the end
 * `{"selected":n,"alreadyWithheld":n,"before":seq}`. With this `before` as a filter, the same selection has the
 * same entries later. `alreadyWithheld`: entries whose state would stay as it is.
 */
export async function* previewWithholding(
  context: WithholdingContext,
  target: Pick<WithholdingOrder, 'state'> & WithholdingTarget & { readonly isRandom: boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { before, entries } = await selectEntries(context, target, signal);
  /** Undefined for one that cannot be read. */
  const shown: (Entry | undefined)[] = [];
  let selected = 0;
  let alreadyWithheld = 0;
  let reportedAt = performance.now();
  const yieldTurn = yieldPeriodically();
  for await (const { entry } of entries) {
    if (!canChange(entry, target.state)) alreadyWithheld += 1;
    else {
      selected += 1;
      // Each entry has the same chance to be among those that are shown.
      const place = target.isRandom ? randomPlace(selected) : selected - 1;
      if (place < (target.isRandom ? RANDOM : FIRST)) shown[place] = entry;
    }
    if (performance.now() - reportedAt > PROGRESS_INTERVAL_MS) {
      reportedAt = performance.now();
      yield JSON.stringify({ counted: selected + alreadyWithheld });
    }
    await yieldTurn();
  }
  for (const entry of shown) if (entry !== undefined) yield `{"entry":${await shownText(entry)}}`;
  yield JSON.stringify({ selected, alreadyWithheld, before });
}

/** One that cannot be read can be withheld too. */
function canChange(entry: Entry | undefined, state: WithholdingState): boolean {
  const before = entry?.withheld?.state ?? 'shown';
  return before !== state && before !== 'withheld';
}

/** Of the entry with this number, from 1, in a sample: those beyond it are left out. */
function randomPlace(number: number): number {
  return number <= RANDOM ? number - 1 : randomInt(number);
}

/** Yields `{"withheld":n}` after the texts are gone, or back. n: how many entries have changed. */
export async function* withhold(
  context: WithholdingContext,
  { reason, state, signal, ...target }: WithholdingOrder,
): AsyncGenerator<string> {
  const { entries } = await selectEntries(context, target, signal);
  const seqs: Seq[] = [];
  const yieldTurn = yieldPeriodically();
  for await (const { seq, entry } of entries) {
    if (canChange(entry, state)) seqs.push(seq);
    await yieldTurn();
  }
  yield JSON.stringify({ withheld: await context.log.withhold(seqs, reason, state) });
}

async function shownText(entry: Entry): Promise<string> {
  if (entry.size > MAX_SHOWN_SIZE) return `${entryHead(entry.metadata)}}`;
  return await readEntryText(entry);
}
