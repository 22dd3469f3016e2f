/** Which entries their owner means: by their ids, by what they answer, by names, or as listings select them. */
import { setTimeout as sleep } from 'node:timers/promises';

import { GatewayError, OWN_MEMBERS, quoted, referencedId, seqOfId } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { parseSearchSelection } from '../../intake/selection.ts';
import { type JsonObject, toJsonObject } from '../../json/json-object.ts';
import { facet } from '../../log/facet.ts';
import type { Entry, Selection, Seq, WithholdingState } from '../../log/log.ts';
import { type Term, termList, termsIn } from '../../log/text-query.ts';
import { tokenize } from '../../search/tokenizer.ts';
import type { OperationsContext } from '../context.ts';
import { findEntry, readEntryText } from '../find-entry.ts';
import { boundedSelection } from '../read-page.ts';
import { authorIn, previewOf } from '../text-preview.ts';

const OWN: ReadonlySet<string> = new Set(OWN_MEMBERS);

export type WithholdingContext = Pick<OperationsContext, 'log' | 'grammar' | 'mirror'>;

/** Either ids or filters. */
export interface WithholdingTarget {
  /** Of these, only those that are hidden. */
  readonly areHidden: boolean;
  /** Of these, only those by names that begin with this. */
  readonly namePrefix: string | undefined;
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
  readonly state: WithholdingState;
}

interface SelectedEntries {
  /** No entry from this one on is among them. */
  readonly before: Seq;
  /** Some at a time. */
  readonly pages: AsyncIterable<readonly SelectedEntry[]>;
}

const POLL_INTERVAL_MS = 100;
/** Entries that are looked at together. */
const SEQS_OF_PAGE = 256;
const SUBJECT = 'which entries are meant';

/** Throws for a target that cannot be used, and for an id that no entry has. */
export async function selectEntries(
  context: WithholdingContext,
  target: WithholdingTarget,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  // An upper bound is added to every selection, and narrows none.
  const isSelective = [...target.filters.keys()].some((name) => name !== 'before');
  if (target.ids.length > 0 || isSelective || target.areHidden || target.namePrefix !== undefined)
    return await readTarget(context, target, signal);
  throw new GatewayError('invalid-parameter', 'Say which entries: by their ids, or by filters.');
}

async function readTarget(
  context: WithholdingContext,
  target: WithholdingTarget & Partial<TextsTarget>,
  signal: AbortSignal,
): Promise<SelectedEntries> {
  const { before, seqs } = await foundBy(context, target, signal);
  return { before, pages: statesOf(context.log, seqs, target) };
}

async function* statesOf(
  log: OperationsContext['log'],
  pages: AsyncIterable<readonly Seq[]>,
  { areHidden, namePrefix }: WithholdingTarget,
): AsyncGenerator<readonly SelectedEntry[]> {
  const takeTurn = yieldPeriodically();
  for await (const seqs of pages) {
    await takeTurn();
    const states = log.states(seqs);
    const all = seqs.map((seq) => ({ seq, state: states.get(seq) ?? ('shown' as const) }));
    const found = areHidden ? all.filter(({ state }) => state === 'hidden') : all;
    yield namePrefix === undefined ? found : await saidBy(log, found, namePrefix);
  }
}

/** Those by names that begin with this, as far as that can be read. */
async function saidBy(
  log: OperationsContext['log'],
  entries: readonly SelectedEntry[],
  namePrefix: string,
): Promise<SelectedEntry[]> {
  const texts = log.smallTexts(entries.map(({ seq }) => seq));
  const found: SelectedEntry[] = [];
  for (const one of entries) {
    const text = texts.get(one.seq);
    const author = text === undefined ? await authorOf(log, one) : authorIn(membersIn(text));
    if (author?.startsWith(namePrefix) === true) found.push(one);
  }
  return found;
}

async function authorOf(
  log: OperationsContext['log'],
  { seq, state }: SelectedEntry,
): Promise<string | undefined> {
  const entry = state === 'withheld' ? undefined : await log.entry(seq, 'hidden');
  return entry && authorIn(await previewOf(entry, [], OVERLAP));
}

function membersIn(text: Uint8Array): JsonObject {
  return toJsonObject(JSON.parse(Buffer.from(text).toString()));
}

interface FoundSeqs {
  readonly before: Seq;
  readonly seqs: AsyncIterable<readonly Seq[]>;
}

async function foundBy(
  { log, grammar, mirror }: WithholdingContext,
  { ids, beneath, filters, areHidden, namePrefix }: WithholdingTarget & Partial<TextsTarget>,
  signal: AbortSignal,
): Promise<FoundSeqs> {
  if (mirror !== undefined) {
    const detail = `This is a mirror of ${mirror.origin}: withhold them there, and it follows.`;
    throw new GatewayError('misdirected', detail, { origin: mirror.origin });
  }
  const head = log.head();
  if (ids.length > 0) return { before: head + 1, seqs: seqsOf(ids, log) };
  if (beneath !== undefined) return { before: head + 1, seqs: seqsBeneath(beneath, log, signal) };
  const wanted = await parseSearchSelection(filters, {
    grammar,
    log,
    facets: [],
    subject: SUBJECT,
  });
  const selection = { ...boundedSelection(wanted, head), withheld: 'all', signal } as const;
  const { before } = selection;
  if (areHidden && filters.size === Number(filters.has('before')))
    return { before, seqs: hiddenSeqs(log, before - 1) };
  const name = namePrefix === undefined ? undefined : nameTerm(namePrefix);
  if (wanted.textQuery !== undefined || name !== undefined)
    await untilSearchable(log, head, signal);
  if (name === undefined) return { before, seqs: log.readSeqs(selection) };
  return { before, seqs: seqsByName(log, selection, name) };
}

async function* hiddenSeqs(
  log: OperationsContext['log'],
  last: Seq,
): AsyncGenerator<readonly Seq[]> {
  const seqs = log.hidden(last);
  for (let at = 0; at < seqs.length; at += SEQS_OF_PAGE) yield seqs.slice(at, at + SEQS_OF_PAGE);
}

/** Letters, digits and what may be part of the same word, at the end of a text. */
const WORD_END = /[\p{L}\p{N}\p{M}\p{S}\p{Cf}'’ʼ‘‛´＇`ʹ]+$/u;
const PLAIN_END = /[\p{L}\p{N}]$/u;

/** The words that a name has which begins with this text. Undefined where none is sure. */
function nameTerm(text: string): Term | undefined {
  const isPrefix = PLAIN_END.test(text);
  const words = tokenize(isPrefix ? text : text.replace(WORD_END, ''));
  return words.length === 0 ? undefined : { words, isPrefix };
}

/** Those that have the words, in order, and those whose words are not all searched. */
async function* seqsByName(
  log: OperationsContext['log'],
  { textQuery, ...selection }: Selection & { readonly before: Seq },
  name: Term,
): AsyncGenerator<readonly Seq[]> {
  const { all, none = termList([]) } = textQuery ?? {};
  const terms = all === undefined ? [name] : [name, ...termsIn(all)];
  yield* log.readSeqs({ ...selection, textQuery: { all: termList(terms), none } });
  const others = textQuery === undefined ? new Set(log.searchedInPart(selection.before - 1)) : [];
  for (const after of others) {
    const one = { ...selection, after: after - 1, before: after + 1 };
    if (after > (selection.after ?? 0)) yield* log.readSeqs(one);
  }
}

/** An entry that cannot be read is found by the seq in its id. */
async function* seqsOf(
  ids: readonly string[],
  log: OperationsContext['log'],
): AsyncGenerator<readonly Seq[]> {
  const found = new Set<Seq>();
  let page: Seq[] = [];
  for (const reference of ids) {
    const id = idIn(reference);
    const seq = seqOfId(id) ?? 0;
    const isPlace = seq >= 1 && seq <= log.head();
    const isUnreadable = isPlace && (await log.entry(seq)) === undefined;
    if (!isUnreadable) await findEntry(log, id);
    if (!found.has(seq)) page.push(seq);
    found.add(seq);
    if (page.length < SEQS_OF_PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

function idIn(reference: string): string {
  const id = referencedId(reference);
  if (id !== undefined && seqOfId(id) !== undefined) return id;
  throw new GatewayError('not-found', `${quoted(reference)} is not the id of an entry.`);
}

/** How many entries are asked for answers together. */
const LEVEL_SIZE = 64;

async function* seqsBeneath(
  reference: string,
  log: OperationsContext['log'],
  signal: AbortSignal,
): AsyncGenerator<readonly Seq[]> {
  const { metadata } = await findEntry(log, idIn(reference));
  const found = new Set([metadata.id]);
  const waiting = [metadata.id];
  while (waiting.length > 0) {
    const answered = waiting.splice(0, LEVEL_SIZE);
    const facets = [answered.map((id) => facet('inReplyTo', id))];
    for await (const entry of log.readEntries({ facets, order: 'oldest', signal })) {
      const { id, seq } = entry.metadata;
      if (found.has(id)) continue;
      found.add(id);
      waiting.push(id);
      yield [seq];
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
 * The visitors' texts in the entries, for the owner to look through, as `{"id":…,"text":…}`: the strings of an entry,
 * a line each, or a large entry's JSON in several pieces. A target may be everything.
 */
export async function* textsOf(
  context: WithholdingContext,
  target: TextsTarget,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { log } = context;
  const { pages } = await readTarget(context, target, signal);
  const yieldTurn = yieldPeriodically();
  for await (const page of pages) {
    const left = page.filter(({ state }) => state !== 'withheld').map(({ seq }) => seq);
    const texts = log.smallTexts(left);
    for (const seq of left) {
      const text = texts.get(seq);
      const entry = text === undefined ? await log.entry(seq, 'hidden') : undefined;
      const isParsed = entry !== undefined && entry.size <= MAX_PARSED;
      const whole = isParsed ? Buffer.from(await readEntryText(entry)) : text;
      if (whole !== undefined) {
        const members = membersIn(whole);
        yield JSON.stringify({ id: members['id'], text: stringsIn(members).join('\n') });
      } else if (entry !== undefined) yield* piecesOf(entry);
      await yieldTurn();
    }
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
  const { id } = entry.metadata;
  const decoder = new TextDecoder();
  let end = '';
  for await (const chunk of entry.chunks()) {
    const text = end + decoder.decode(chunk, { stream: true });
    yield JSON.stringify({ id, text });
    end = text.slice(-OVERLAP);
  }
}
