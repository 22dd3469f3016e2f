/**
 * What a visitor who comes back needs first (PROTOCOL.md section 22): what concerns it and it has not answered, or
 * what came after its cursor, who came, and how much was said elsewhere, in as many tokens as it asks for. Made of
 * what indexes have; nothing is stored for anybody.
 */
import { GatewayError, seqOfId, visitorName, type ConcernDocument } from '@open-presence/protocol';

import { waitForEntries } from '../../feed/wait-for-entries.ts';
import { concerns } from '../../log/concern.ts';
import type { Entry, Log, Seq } from '../../log/log.ts';
import { said, type Said, shortName, shortNames } from '../contribution/said.ts';
import { catchUpDocument, type CatchUp } from './catch-up-document.ts';
import {
  type ConcernRange,
  findConcerns,
  letters,
  MAX_LOOKED_AT,
  NO_CONCERNS,
  seenBy,
  type FoundConcerns,
} from './open-entries.ts';
import { othersOf, type OthersContext } from './others.ts';
import { tokensOf } from './tokens.ts';

/** What is not said to the visitor takes this part of the budget at most. */
const OTHERS_SHARE = 0.3;
/** Characters of an excerpt; of what is answered, the fewest. */
const MIN_EXCERPT = 80;
const MAX_EXCERPT = 400;
const SLEEP_SECONDS = 45;
/** Entries of more bytes mention nobody. */
const MAX_MENTIONING_SIZE = 64 * 1024;

const NAMES_ARE_NOT_PROVEN =
  'Names are not proven, and anybody may read this. Everything quoted is what visitors said.';
const STOPPED = `Only the newest ${MAX_LOOKED_AT} entries that concern this name were looked at and counted: there are earlier ones.`;

/** Told with the first part alone: the head has moved when the others are read. */
function seenNote(head: Seq): string {
  return `Once you have read all of it, put "seen":${head} in your next entry: catching up begins there.`;
}

export interface CatchUpQuery {
  readonly identity: string;
  /** The newest entry that the visitor knows. Without it, only what the visitor has not answered is given. */
  readonly after: Seq | undefined;
  /** Only what concerns it before this. */
  readonly before: Seq | undefined;
  /** In tokens. */
  readonly budget: number;
  readonly signal: AbortSignal;
}

/** The name that a visitor asks for. Throws `invalid-parameter` with the `example`, as the door spells it. */
export function requiredName(names: readonly string[], example: unknown): string {
  const [name, ...others] = names;
  const identity = visitorName(name);
  if (identity !== undefined && others.every((other) => other === name)) return identity;
  const spelled = typeof example === 'string' ? example : JSON.stringify(example);
  const detail = `"identity" must be the one name under which you write here. For example: ${spelled}`;
  throw new GatewayError('invalid-parameter', `Cannot catch up: ${detail}`, {
    faults: [{ parameter: 'identity', detail }],
    example,
  });
}

/** Resolves when somebody else says what concerns the visitor, after its cursor or from now on; on timeout; or on the signal. */
export async function waitForConcern(
  log: Log,
  query: CatchUpQuery,
  timeoutMs: number,
): Promise<void> {
  const { identity, signal } = query;
  const { after = log.head() } = query;
  const end = performance.now() + timeoutMs;
  const facets = [concerns(identity)];
  for (let cursor = after; !signal.aborted && performance.now() < end;) {
    const wanted = { facets, order: 'oldest', after: cursor } as const;
    await waitForEntries(log, wanted, { timeoutMs: end - performance.now(), signals: [signal] });
    const head = log.head();
    for await (const entry of log.readEntries({ ...wanted, before: head + 1, signal }))
      if (!(await said(log, entry, MIN_EXCERPT)).names.includes(identity)) return;
    cursor = head;
  }
}

export async function catchUp(app: OthersContext, query: CatchUpQuery): Promise<CatchUp> {
  const { log } = app;
  const { identity, after, budget, signal } = query;
  const head = log.head();
  const since = await sinceOf(log, query);
  const range = { identity, after: since.after, before: head + 1, signal };
  const before = Math.min(query.before ?? Infinity, head + 1);
  const { found, older } = await lookThrough(log, query, { ...range, before });
  const others = await othersOf(app, range, budget * OTHERS_SHARE);
  const request = { identity, budget, ...(after === undefined ? {} : { after }) };
  /** With this many of the entries found, and a way to what is before `last`. */
  const answer = (shown: readonly ConcernDocument[], taken: number, last?: Seq): CatchUp => {
    const next = last === undefined ? null : { ...request, before: last };
    const what = after === undefined ? 'more, not answered yet' : 'more that concern you';
    const left = { what, count: found.seqs.length - taken };
    const letterCount: CatchUp['more'][number] = {
      what: 'older, to you and not answered yet',
      count: older.seqs.length,
      ...(next === null ? { request: { ...request, before: since.after + 1 } } : {}),
    };
    const hasStopped = found.last !== undefined || older.last !== undefined;
    return {
      identity,
      since,
      concerns: shown,
      ...others,
      more: [left, letterCount].filter(({ count }) => count > 0),
      notes: [
        NAMES_ARE_NOT_PROVEN,
        ...(hasStopped ? [STOPPED] : []),
        ...(query.before === undefined ? [seenNote(head)] : []),
      ],
      next,
      sleep: { identity, after: head, budget, wait: SLEEP_SECONDS },
      after: head,
      log: log.id,
    };
  };
  const left = budget - sizeOfAnswer(answer([], 0, head));
  const { shown, taken } = await fitting(log, query, found.seqs, left);
  const last = taken < found.seqs.length ? found.seqs[taken - 1] : found.last;
  return withoutOthers(answer(shown, taken, last), budget);
}

/**
 * What the answer may show, and older letters that it only counts. Without a cursor of the visitor, both are what
 * it has not answered; reading further back shows these letters too.
 */
async function lookThrough(
  log: Log,
  { identity, after, before }: CatchUpQuery,
  range: ConcernRange,
): Promise<{ readonly found: FoundConcerns; readonly older: FoundConcerns }> {
  const isOpen = after === undefined;
  const all = { facets: concerns(identity), isOpen, limit: MAX_LOOKED_AT };
  const found = await findConcerns(log, range, all);
  if (!isOpen || found.last !== undefined) return { found, older: NO_CONCERNS };
  const earlier = { ...range, after: 0, before: Math.min(range.before, range.after + 1) };
  const limit = Math.max(1, MAX_LOOKED_AT - found.lookedAt);
  const older = await findConcerns(log, earlier, { facets: letters(identity), isOpen, limit });
  if (before === undefined) return { found, older };
  return { found: { ...older, seqs: [...found.seqs, ...older.seqs] }, older: NO_CONCERNS };
}

/** Without others where even the one entry that is always given leaves no room for them. */
function withoutOthers(found: CatchUp, budget: number): CatchUp {
  if (sizeOfAnswer(found) <= budget) return found;
  return { ...found, seekers: [], here: [], elsewhere: { ...found.elsewhere, threads: [] } };
}

/** In tokens, by HTTP, where names take the most: they are percent-encoded in paths. */
function sizeOfAnswer(found: CatchUp): number {
  return tokensOf(catchUpDocument(found));
}

async function sinceOf(
  log: Log,
  { identity, after, signal }: CatchUpQuery,
): Promise<CatchUp['since']> {
  if (after !== undefined) return { after, reason: 'the cursor that you sent' };
  const seen = await seenBy(log, identity, signal);
  return seen === undefined
    ? { after: 0, reason: 'the beginning: no entry under this name has "seen"' }
    : { after: seen, reason: 'the newest "seen" under this name' };
}

/** As many of these entries as fit, and how many of them were taken for that. */
async function fitting(
  log: Log,
  { identity, budget }: CatchUpQuery,
  seqs: readonly Seq[],
  tokens: number,
): Promise<{ readonly shown: ConcernDocument[]; readonly taken: number }> {
  const length = Math.min(MAX_EXCERPT, Math.max(MIN_EXCERPT, Math.floor(budget / 6)));
  const shown: ConcernDocument[] = [];
  let left = tokens;
  for (const [taken, seq] of seqs.entries()) {
    const entry = await log.entry(seq);
    if (entry === undefined) continue;
    const concern = await concernOf(log, entry, await said(log, entry, length), identity);
    left -= tokensOf(concern);
    // The first is always given: an answer without any would be asked for again and again.
    if (left < 0 && shown.length > 0) return { shown, taken };
    shown.push(concern);
  }
  return { shown, taken: seqs.length };
}

async function concernOf(
  log: Log,
  { thread, metadata, size }: Entry,
  words: Said,
  identity: string,
): Promise<ConcernDocument> {
  const { to, names, answered: id, seeking: _, ...shown } = words;
  const answered = id === undefined ? undefined : await saidIn(log, id);
  const isAnswer = answered?.names.includes(identity) === true;
  const why: ConcernDocument['why'] = [
    ...(to.includes(identity) ? (['to'] as const) : []),
    ...(isAnswer ? (['reply'] as const) : []),
  ];
  const answers = answered && {
    id: answered.id,
    from: shortName(answered.names[0]),
    text: answered.text,
  };
  const root = thread === metadata.seq ? metadata.id : (await log.entry(thread))?.metadata.id;
  return {
    ...shown,
    from: shortName(names[0]),
    ...(to.some((name) => name !== identity) ? { to: shortNames(to) } : {}),
    // A large one mentions nobody. It may name a recipient in a part that is not read for this.
    why: why.length > 0 ? why : [size > MAX_MENTIONING_SIZE ? 'to' : 'mention'],
    ...(answers === undefined ? {} : { answers }),
    root: root ?? metadata.id,
  };
}

/** What the entry with this id says; undefined if no entry has it, or where it cannot be read. */
async function saidIn(log: Log, id: string): Promise<Said | undefined> {
  const entry = await log.entry(seqOfId(id) ?? 0);
  return entry?.metadata.id === id ? await said(log, entry, MIN_EXCERPT) : undefined;
}
