/**
 * The naive store: one array, searched from end to end. Other stores are compared with it, so it is
 * simple rather than fast, and shares no code with them. It upholds the contract of `log/log.ts`
 * except for two points: entries do not outlive the process, and memory grows with them.
 */
import { randomInt, randomUUID } from 'node:crypto';

import { entryId, type Kind, SALTS, type EntryMetadata } from '@open-presence/protocol';

import { alternativesIn, facet, type Facet } from '../../../packages/gateway/src/log/facet.ts';
import { portableText } from '../../../packages/gateway/src/json/portable-entry.ts';
import type {
  AppendResult,
  ChainRange,
  RankedEntry,
  RankedQuery,
  Draft,
  Entry,
  Log,
  LogRead,
  NewestQuery,
  ReadEnd,
  Selection,
  Seq,
  SmallAppendResult,
  SmallDraft,
  Spool,
  RoomCount,
  TextRead,
  Withholding,
  WithholdingRange,
  WithholdingState,
} from '../../../packages/gateway/src/log/log.ts';
import { matches, ranking } from './rank.ts';
import {
  bodyOf,
  chunksOf,
  entryOf,
  exactEntry,
  facetsOf,
  hasFacet,
  hex,
  MemorySpool,
  showEntry,
  storedEntry,
  type StoredEntry,
  withholdEntry,
} from './stored-entry.ts';

interface Page {
  readonly entries: readonly StoredEntry[];
  readonly end: ReadEnd;
}

/** An empty log in memory. `sectionSize`: how many matches are ranked together. */
export function openMemoryLog(sectionSize: number = Infinity): Log {
  return new MemoryLog(sectionSize);
}

class MemoryLog implements Log {
  readonly id: string = randomUUID();
  readonly #salt = randomInt(SALTS);
  readonly #sectionSize: number;
  #readOnly: string | undefined;
  readonly #entries: StoredEntry[] = [];
  readonly #keys = new Map<string, StoredEntry>();
  readonly #withholdings: Withholding[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(sectionSize: number) {
    this.#sectionSize = sectionSize;
  }

  writable(): boolean {
    return this.#readOnly === undefined;
  }

  readOnly(): string | undefined {
    return this.#readOnly;
  }

  async setReadOnly(reason: string | undefined): Promise<void> {
    this.#readOnly = reason;
  }

  now(): number {
    return Math.max(this.#entries.at(-1)?.metadata.time ?? 0, Date.now());
  }

  async caughtUp(): Promise<void> {
    // Nobody else has this log.
  }

  head(): Seq {
    return this.#entries.length;
  }

  spool(): Spool {
    return new MemorySpool();
  }

  async append(draft: Draft): Promise<AppendResult> {
    const { kind, room, key } = draft;
    const reason = this.#readOnly;
    if (reason !== undefined) return { outcome: 'refused', code: 'unavailable', reason };
    const keyHex = key && hex(key);
    const earlier = keyHex === undefined ? undefined : this.#keys.get(keyHex);
    if (earlier !== undefined) {
      const { metadata } = earlier;
      const hasBody = earlier.withholding !== undefined || earlier.said.body.equals(bodyOf(draft));
      const isSame = metadata.kind === kind && metadata.room === room && hasBody;
      return { outcome: isSame ? 'repeated' : 'conflict', metadata };
    }
    const metadata = this.#nextMetadata(kind, room);
    // Only the facet of what it answers is an id or a seq, with the versions 7 and 2 of a UUID.
    const names = new Set([...facetsOf(draft)].filter((one) => /^.{12}[27]/.test(one)));
    const isAnswered = ({ metadata: { id, seq } }: StoredEntry): boolean =>
      [id, String(seq)].some((name) => names.has(hex(facet('inReplyTo', name))));
    const parent = names.size === 0 ? undefined : this.#entries.find(isAnswered);
    const place = { metadata, thread: parent?.thread ?? metadata.seq, answered: parent };
    const stored = storedEntry(draft, place, this.linkAt(this.head()));
    this.#entries.push(stored);
    if (keyHex !== undefined) this.#keys.set(keyHex, stored);
    for (const callback of this.#watchers) callback();
    return { outcome: 'appended', metadata };
  }

  appendSmall(draft: SmallDraft, onResult: (result: SmallAppendResult) => void): void {
    void this.append(draft).then(onResult);
  }

  async withhold(
    seqs: readonly Seq[],
    reason: string,
    state: WithholdingState = 'withheld',
  ): Promise<number> {
    const time = this.now();
    const before = this.#withholdings.length;
    for (const seq of seqs) {
      const stored = this.#entries[seq - 1];
      const before = stored?.withholding?.state ?? 'shown';
      const isChange = before !== state && (before !== 'withheld' || state === 'withheld');
      if (stored === undefined || !isChange) continue;
      const number = this.#withholdings.length + 1;
      const withholding = { number, metadata: stored.metadata, time, reason, state };
      this.#withholdings.push(withholding);
      if (state === 'shown') showEntry(stored);
      else withholdEntry(stored, withholding);
    }
    for (const callback of this.#watchers) callback();
    return this.#withholdings.length - before;
  }

  withheld(): number {
    return this.#withholdings.length;
  }

  async *withholdings({
    order,
    after = 0,
    before = Infinity,
    limit,
  }: WithholdingRange): AsyncGenerator<Withholding> {
    const found = this.#withholdings.filter(({ number }) => number > after && number < before);
    yield* (order === 'newest' ? found.toReversed() : found).slice(0, limit);
  }

  async entry(seq: Seq, form?: 'exact' | 'hidden'): Promise<Entry | undefined> {
    const stored = this.#entries.find(({ metadata }) => metadata.seq === seq);
    if (stored === undefined) return undefined;
    if (form === 'hidden') return exactEntry(stored, stored.kept);
    return form === 'exact' ? exactEntry(stored) : entryOf(stored);
  }

  // Selects at the call, before the generator's first step: a read has what was there when it was called.
  readText(selection: Selection, joiner: ',\n' | '\n'): LogRead<Uint8Array> {
    const { entries, end } = this.#select(selection);
    const texts = entries.map(({ said: { text, portability }, metadata }) =>
      portableText(text, { portability, metadata }),
    );
    return readOf(joined(texts, joiner), end, selection.signal);
  }

  readEntries(selection: Selection): LogRead<Entry> {
    const { entries, end } = this.#select(selection);
    return readOf(entries.map(entryOf), end, selection.signal);
  }

  async *readSeqs(selection: Selection): AsyncGenerator<readonly Seq[]> {
    yield this.#select(selection).entries.map(({ metadata }) => metadata.seq);
  }

  hidden(last: Seq): readonly Seq[] {
    const entries = this.#entries.slice(0, last).toReversed();
    const hidden = entries.filter(({ withholding }) => withholding?.state === 'hidden');
    return hidden.map(({ metadata }) => metadata.seq);
  }

  searchedInPart(last: Seq): readonly Seq[] {
    return this.#entries.slice(0, last).map(({ metadata }) => metadata.seq);
  }

  states(seqs: readonly Seq[]): ReadonlyMap<Seq, WithholdingState> {
    const states = new Map<Seq, WithholdingState>();
    for (const seq of seqs) states.set(seq, this.#entries[seq - 1]?.withholding?.state ?? 'shown');
    return states;
  }

  smallTexts(seqs: readonly Seq[]): ReadonlyMap<Seq, Uint8Array> {
    const texts = new Map<Seq, Uint8Array>();
    for (const seq of seqs) {
      const { withholding, kept, said } = this.#entries[seq - 1] ?? {};
      const text = (kept ?? said)?.text;
      if (text !== undefined && withholding?.state !== 'withheld') texts.set(seq, text);
    }
    return texts;
  }

  async *readNewestOfIdentities({ maxSize, ...query }: NewestQuery): AsyncGenerator<Entry> {
    const { entries } = this.#select({ ...query, facets: [], order: 'newest' });
    for (const entry of entries) {
      const { portability, text } = entry.said;
      if (portability !== 'omitted' && text.length <= maxSize) yield entryOf(entry);
    }
  }

  linkAt(seq: Seq): string {
    return this.#entries[seq - 1]?.link ?? hex(new Uint8Array(32));
  }

  readChain(range: ChainRange): TextRead {
    const all = { ...range, facets: [], order: 'oldest', withheld: 'include' } as const;
    const { entries, end } = this.#select(all);
    const lines = entries.map(({ link, said: { proof, text } }) =>
      Buffer.from(`{"link":"${link}",${proof},"entry":${text.toString()}}\n`),
    );
    return readOf(joined(lines, ''), end, range.signal);
  }

  searchWatermark(): Seq {
    return this.head();
  }

  readRanked({ skip, limit, ...query }: RankedQuery): LogRead<RankedEntry> {
    const { entries: matching } = this.#select({ ...query, order: 'newest', limit: Infinity });
    const all = this.#entries.map(({ said }) => said);
    const rankOf = ranking(query.textQuery, all);
    const ranked: RankedEntry[] = [];
    let before = Math.min(query.before ?? Infinity, this.head() + 1);
    for (let left = matching; left.length > 0;) {
      const section = left.slice(0, this.#sectionSize);
      left = left.slice(section.length);
      const rankedFrom = left.length === 0 ? undefined : section.at(-1)?.metadata.seq;
      const sorted = section
        .map((entry) => ({ entry, rank: rankOf(entry.said) }))
        .toSorted((a, b) => b.rank - a.rank);
      for (const [index, { entry }] of sorted.entries()) {
        const endsSection = rankedFrom !== undefined && index === sorted.length - 1;
        const next = endsSection ? { before: rankedFrom, skip: 0 } : { before, skip: index + 1 };
        ranked.push({ ...entryOf(entry), next, rankedFrom });
      }
      before = rankedFrom ?? before;
    }
    const entries = ranked.slice(skip, skip + limit);
    const end = { last: entries.at(-1)?.metadata.seq, more: ranked.length > skip + limit };
    return readOf(entries, end, query.signal);
  }

  roomCounts(): readonly RoomCount[] {
    const counts = new Map<string, RoomCount>();
    for (const { metadata, withholding } of this.#entries) {
      if (withholding !== undefined) continue;
      const { room, kind, seq, time } = metadata;
      const key = `${room} ${kind}`;
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { room, kind, count, latest: { seq, time } });
    }
    return [...counts.values()];
  }

  firstSince(time: number): Seq {
    const first = this.#entries.find(({ metadata }) => metadata.time >= time);
    return first?.metadata.seq ?? this.head() + 1;
  }

  async countBetween(
    facet: Facet,
    bounds: readonly Seq[],
    signal?: AbortSignal,
  ): Promise<number[]> {
    signal?.throwIfAborted();
    return bounds.slice(1).map((end, index) => {
      const between = this.#entries.slice((bounds[index] ?? end) - 1, end - 1);
      const shown = between.filter(({ withholding }) => withholding === undefined);
      return shown.filter(hasFacet(facet)).length;
    });
  }

  watch(onMove: () => void): Disposable {
    const callback = (): void => onMove();
    this.#watchers.add(callback);
    return { [Symbol.dispose]: () => void this.#watchers.delete(callback) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Owns nothing but memory.
  }

  #nextMetadata(kind: Kind, room: string): EntryMetadata {
    const seq = this.#entries.length + 1;
    const time = this.now();
    return { seq, id: entryId(time, seq, this.#salt), kind, room, time };
  }

  #select(selection: Selection): Page {
    const { after = 0, before = Infinity, since = -Infinity, until = Infinity } = selection;
    const { facets } = selection;
    const wanted = Array.from(alternativesIn(facets), (any) => any.map(hasFacet));
    const matching = this.#entries.filter(
      (entry) =>
        entry.metadata.seq > after &&
        entry.metadata.seq < before &&
        entry.metadata.time >= since &&
        entry.metadata.time < until &&
        (entry.withholding === undefined || selection.withheld !== undefined) &&
        wanted.every((any) => any.some((has) => has(entry))) &&
        (selection.textQuery === undefined || matches(entry.said.values, selection.textQuery)),
    );
    if (selection.order === 'newest') matching.reverse();
    const entries = matching.slice(0, selection.limit ?? matching.length);
    const end = { last: entries.at(-1)?.metadata.seq, more: entries.length < matching.length };
    return { entries, end };
  }
}

async function* readOf<Part>(
  parts: Iterable<Part>,
  end: ReadEnd,
  signal: AbortSignal | undefined,
): LogRead<Part> {
  for (const part of parts) {
    signal?.throwIfAborted();
    yield part;
  }
  return end;
}

function joined(texts: readonly Uint8Array[], joiner: string): Iterable<Uint8Array> {
  const separator = Buffer.from(joiner);
  const parts = texts.flatMap((text, index) => (index === 0 ? [text] : [separator, text]));
  return chunksOf(Buffer.concat(parts));
}
