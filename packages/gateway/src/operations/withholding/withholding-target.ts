/** Which entries their owner means: by their ids, by what they answer, or as listings select them. */
import { setTimeout as sleep } from 'node:timers/promises';

import { GatewayError, OWN_MEMBERS, quoted, referencedId, seqOfId } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { parseSearchSelection } from '../../intake/selection.ts';
import { type JsonObject, toJsonObject } from '../../json/json-object.ts';
import { facet } from '../../log/facet.ts';
import type { Entry, Selection, Seq } from '../../log/log.ts';
import type { OperationsContext } from '../context.ts';
import { findEntry, readEntryText, withText } from '../find-entry.ts';
import { boundedSelection } from '../read-page.ts';
import { authorIn, previewOf } from '../text-preview.ts';

const OWN: ReadonlySet<string> = new Set(OWN_MEMBERS);

export type WithholdingContext = Pick<OperationsContext, 'log' | 'grammar' | 'mirror'>;

/** Either ids or filters. */
export interface WithholdingTarget {
  /** Of these, only those that are hidden. */
  readonly areHidden: boolean;
  /** In any form in which the gateway gives them. */
  readonly ids: readonly string[];
  /** Parameters of listings (section 8.2). */
  readonly filters: URLSearchParams;
}

interface TextsTarget extends WithholdingTarget {
  /** The id of an entry. Selects the entries that answer it, the answers to those, and so on. */
  readonly beneath: string | undefined;
}

interface SelectedEntry {
  readonly seq: Seq;
  /** Undefined for one that cannot be read. One that is hidden has what it says. */
  readonly entry: Entry | undefined;
}

interface SelectedEntries {
  /** No entry from this one on is among them. */
  readonly before: Seq;
  readonly entries: AsyncIterable<SelectedEntry>;
}

const POLL_INTERVAL_MS = 100;
const SUBJECT = 'which entries are meant';

/** Throws for a target that cannot be used, and for an id that no entry has. */
export async function selectEntries(
  context: WithholdingContext,
  target: WithholdingTarget,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  // An upper bound is added to every selection, and narrows none.
  const isSelective = [...target.filters.keys()].some((name) => name !== 'before');
  if (target.ids.length > 0 || isSelective || target.areHidden)
    return await readTarget(context, target, signal);
  throw new GatewayError('invalid-parameter', 'Say which entries: by their ids, or by filters.');
}

async function readTarget(
  context: WithholdingContext,
  target: WithholdingTarget & Partial<TextsTarget>,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  const { before, entries } = await foundBy(context, target, signal);
  return { before, entries: withHidden(context.log, entries, target.areHidden) };
}

async function* withHidden(
  log: OperationsContext['log'],
  entries: AsyncIterable<SelectedEntry>,
  areHidden: boolean,
): AsyncGenerator<SelectedEntry> {
  for await (const { seq, entry } of entries) {
    const isHidden = entry?.withheld?.state === 'hidden';
    if (isHidden) yield { seq, entry: await log.entry(seq, 'hidden') };
    else if (!areHidden) yield { seq, entry };
  }
}

async function foundBy(
  { log, grammar, mirror }: WithholdingContext,
  { ids, beneath, filters }: WithholdingTarget & Partial<TextsTarget>,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  if (mirror !== undefined) {
    const detail = `This is a mirror of ${mirror.origin}: withhold them there, and it follows.`;
    throw new GatewayError('misdirected', detail, { origin: mirror.origin });
  }
  const head = log.head();
  if (ids.length > 0) return { before: head + 1, entries: entriesWith(ids, log) };
  if (beneath !== undefined)
    return { before: head + 1, entries: withSeqs(entriesBeneath(beneath, log, signal)) };
  const wanted = await parseSearchSelection(filters, {
    grammar,
    log,
    facets: [],
    subject: SUBJECT,
  });
  if (wanted.textQuery !== undefined) await untilSearchable(log, head, signal);
  const selection: Selection & { readonly before: Seq } = boundedSelection(wanted, head);
  const withheld = wanted.textQuery === undefined ? ({ withheld: 'include' } as const) : {};
  const entries = log.readEntries({ ...selection, ...withheld, signal });
  return { before: selection.before, entries: withSeqs(entries) };
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
    const id = idIn(reference);
    const seq = seqOfId(id) ?? 0;
    const isPlace = seq >= 1 && seq <= log.head();
    const isUnreadable = isPlace && (await log.entry(seq)) === undefined;
    const entry = isUnreadable ? undefined : await findEntry(log, id);
    if (!found.has(seq)) yield { seq, entry };
    found.add(seq);
  }
}

function idIn(reference: string): string {
  const id = referencedId(reference);
  if (id !== undefined && seqOfId(id) !== undefined) return id;
  throw new GatewayError('not-found', `${quoted(reference)} is not the id of an entry.`);
}

/** How many entries are asked for answers together. */
const LEVEL_SIZE = 64;

async function* entriesBeneath(
  reference: string,
  log: OperationsContext['log'],
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  const { metadata } = await findEntry(log, idIn(reference));
  const found = new Set([metadata.id]);
  const waiting = [metadata.id];
  while (waiting.length > 0) {
    const answered = waiting.splice(0, LEVEL_SIZE);
    const facets = [answered.map((id) => facet('inReplyTo', id))];
    for await (const entry of log.readEntries({ facets, order: 'oldest', signal })) {
      const { id } = entry.metadata;
      if (found.has(id)) continue;
      found.add(id);
      waiting.push(id);
      yield entry;
    }
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

/** In bytes: of larger entries, the text is JSON. */
const MAX_PARSED = 256 * 1024;
/** UTF-16 code units that consecutive pieces share: no match may be longer. */
const OVERLAP = 16 * 1024;

/**
 * The visitors' texts in the entries, for the owner to look through, as `{"id":…,"author":…,"text":…}`: the
 * strings of an entry, a line each, or a large entry's JSON in several pieces. A target may be everything.
 */
export async function* textsOf(
  context: WithholdingContext,
  target: TextsTarget,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { entries } = await readTarget(context, target, signal);
  const yieldTurn = yieldPeriodically();
  for await (const { entry: found } of entries) {
    if (found === undefined || (found.withheld?.state ?? 'hidden') !== 'hidden') continue;
    const entry = await withText(context.log, found);
    const { id } = entry.metadata;
    if (entry.size <= MAX_PARSED) {
      const members = toJsonObject(JSON.parse(await readEntryText(entry)));
      const text = stringsIn(members).join('\n');
      yield JSON.stringify({ id, author: authorIn(members), text });
    } else {
      const author = authorIn(await previewOf(entry, [], OVERLAP));
      for await (const text of piecesOf(entry)) yield JSON.stringify({ id, author, text });
    }
    await yieldTurn();
  }
}

/** All strings that the visitor gave, at any depth. */
function stringsIn(members: JsonObject): string[] {
  const strings: string[] = [];
  const waiting: unknown[] = Object.entries(members).flatMap(([name, value]) =>
    OWN.has(name) ? [] : [value],
  );
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') strings.push(value);
    else if (typeof value === 'object' && value !== null) {
      const parts: unknown[] = Object.values(value);
      for (const part of parts) waiting.push(part);
    }
  }
  return strings;
}

async function* piecesOf(entry: Entry): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let end = '';
  for await (const chunk of entry.chunks()) {
    const text = end + decoder.decode(chunk, { stream: true });
    yield text;
    end = text.slice(-OVERLAP);
  }
}
