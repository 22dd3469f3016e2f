/** Taking away what was said in entries (PROTOCOL.md section 4.7). No door leads here. */
import { setTimeout as sleep } from 'node:timers/promises';

import { entryHead, GatewayError, quoted, referencedId, seqOfId } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { parseSearchSelection } from '../intake/selection.ts';
import type { Entry, Selection, Seq } from '../log/log.ts';
import type { OperationsContext } from './context.ts';
import { findEntry, readEntryText } from './find-entry.ts';
import { boundedSelection } from './read-page.ts';

export type WithholdingContext = Pick<OperationsContext, 'log' | 'grammar' | 'mirror'>;

/** Which entries: those with these ids, or those that the filters select. */
export interface WithholdingTarget {
  /** In any form in which the gateway gives them. */
  readonly ids: readonly string[];
  /** Parameters of listings (section 8.2); empty where there are ids. */
  readonly filters: URLSearchParams;
}

export interface WithholdingOrder extends WithholdingTarget {
  /** Is public. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

const SHOWN = 5;
/** Larger ones are shown with their own members only. */
const MAX_SHOWN_SIZE = 16 * 1024;
const PROGRESS_INTERVAL_MS = 500;
const POLL_INTERVAL_MS = 100;
const SUBJECT = 'the entries to withhold';

/**
 * Yields the first entries as `{"entry":…}`, how many were counted so far as `{"counted":n}`, and at
 * the end `{"selected":n,"alreadyWithheld":n,"before":seq}`: with this `before` among its filters, the
 * same selection has the same entries later.
 */
export async function* previewWithholding(
  context: WithholdingContext,
  target: WithholdingTarget,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { before, entries } = await select(context, target, signal);
  let selected = 0;
  let alreadyWithheld = 0;
  let reportedAt = performance.now();
  const yieldTurn = yieldPeriodically();
  for await (const { entry } of entries) {
    if (entry?.withheld !== undefined) alreadyWithheld += 1;
    else {
      selected += 1;
      if (selected <= SHOWN && entry !== undefined) yield `{"entry":${await shownText(entry)}}`;
    }
    if (performance.now() - reportedAt > PROGRESS_INTERVAL_MS) {
      reportedAt = performance.now();
      yield JSON.stringify({ counted: selected + alreadyWithheld });
    }
    await yieldTurn();
  }
  yield JSON.stringify({ selected, alreadyWithheld, before });
}

/** Yields `{"withheld":n}` once what was said in them is gone: n were not withheld before. */
export async function* withhold(
  context: WithholdingContext,
  { reason, signal, ...target }: WithholdingOrder,
): AsyncGenerator<string> {
  const { entries } = await select(context, target, signal);
  const seqs: Seq[] = [];
  const yieldTurn = yieldPeriodically();
  for await (const { seq, entry } of entries) {
    if (entry?.withheld === undefined) seqs.push(seq);
    await yieldTurn();
  }
  yield JSON.stringify({ withheld: await context.log.withhold(seqs, reason) });
}

interface SelectedEntry {
  readonly seq: Seq;
  /** Undefined for one that cannot be read. */
  readonly entry: Entry | undefined;
}

interface SelectedEntries {
  /** No entry from this one on is among them. */
  readonly before: Seq;
  readonly entries: AsyncIterable<SelectedEntry>;
}

/** Throws for a target that cannot be used, and for an id that no entry has. */
async function select(
  { log, grammar, mirror }: WithholdingContext,
  { ids, filters }: WithholdingTarget,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  if (mirror !== undefined) {
    const detail = `This is a mirror of ${mirror.origin}: withhold them there, and it follows.`;
    throw new GatewayError('misdirected', detail, { origin: mirror.origin });
  }
  if (ids.length > 0) return { before: log.head() + 1, entries: entriesWith(ids, log) };
  const wanted = await parseSearchSelection(filters, {
    grammar,
    log,
    facets: [],
    subject: SUBJECT,
  });
  if (!isSelective(filters))
    throw new GatewayError('invalid-parameter', 'Say which entries: by their ids, or by filters.');
  const head = log.head();
  if (wanted.textQuery !== undefined) await untilSearchable(log, head, signal);
  const selection: Selection & { readonly before: Seq } = boundedSelection(wanted, head);
  const entries = log.readEntries({ ...selection, signal });
  return { before: selection.before, entries: withSeqs(entries) };
}

/** Whether something narrows the selection: an upper bound is added to every selection. */
function isSelective(filters: URLSearchParams): boolean {
  return [...filters.keys()].some((name) => name !== 'before');
}

async function* withSeqs(entries: AsyncIterable<Entry>): AsyncGenerator<SelectedEntry> {
  for await (const entry of entries) yield { seq: entry.metadata.seq, entry };
}

/** An entry that cannot be read is found by the seq in its id. */
async function* entriesWith(
  ids: readonly string[],
  log: OperationsContext['log'],
): AsyncGenerator<SelectedEntry> {
  const found = new Set<Seq>();
  for (const reference of ids) {
    const id = referencedId(reference);
    const seq = id === undefined ? undefined : seqOfId(id);
    if (id === undefined || seq === undefined)
      throw new GatewayError('not-found', `${quoted(reference)} is not the id of an entry.`);
    const isPlace = seq >= 1 && seq <= log.head();
    const isUnreadable = isPlace && (await log.entry(seq)) === undefined;
    const entry = isUnreadable ? undefined : await findEntry(log, id);
    if (!found.has(seq)) yield { seq, entry };
    found.add(seq);
  }
}

/** Resolves once the words of all entries up to this one are indexed. */
async function untilSearchable(
  log: OperationsContext['log'],
  head: Seq,
  signal: AbortSignal,
): Promise<void> {
  while (log.searchWatermark() < head) await sleep(POLL_INTERVAL_MS, undefined, { signal });
}

async function shownText(entry: Entry): Promise<string> {
  if (entry.size > MAX_SHOWN_SIZE) return `${entryHead(entry.metadata)}}`;
  return await readEntryText(entry);
}
