/** A log beside a plain list of what was put into it: the expectation of every suite. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import { entryHead, KINDS, type EntryMetadata } from '@open-presence/protocol';

import { alternativesIn, facet, FACET_SIZE } from '../../packages/gateway/src/log/facet.ts';
import type {
  SmallAppendResult,
  Draft,
  Entry,
  Log,
  ReadEnd,
  Selection,
  RoomCount,
  WithholdingState,
} from '../../packages/gateway/src/log/log.ts';
import {
  cut,
  draftOf,
  fill,
  randomOf,
  ROOMS,
  metadataOf,
  type DraftFields,
  type InlineDraft,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { assertSameBytes, collect, join, type Open, type Opened } from './fixtures.ts';

export interface ExpectedEntry {
  readonly metadata: EntryMetadata;
  /** In its portable form. */
  readonly text: Buffer;
  readonly exact: Buffer;
  readonly facets: ReadonlySet<string>;
  readonly isWithheld?: true;
}

export interface ExpectedReading {
  readonly entries: readonly ExpectedEntry[];
  readonly end: ReadEnd;
}

export async function appendSmall(log: Log, draft: InlineDraft): Promise<SmallAppendResult> {
  return await new Promise((resolve) => log.appendSmall(draft, resolve));
}

export class CheckedLog {
  log: Log;
  /** What hidden entries say. */
  readonly #hidden = new Map<number, ExpectedEntry>();
  /** In the order of seq. */
  readonly entries: ExpectedEntry[] = [];
  #appended = 0;

  constructor(log: Log) {
    this.log = log;
  }

  /** Appends, by one of both ways in turn, and remembers. */
  async append(fields: DraftFields = {}): Promise<EntryMetadata> {
    const draft = draftOf(fields);
    this.#appended += 1;
    const result = await (this.#appended % 2 === 0
      ? appendSmall(this.log, draft)
      : this.log.append(draft));
    return this.remember(draft, result);
  }

  /** Appends all at the same time. */
  async appendAll(drafts: readonly DraftFields[]): Promise<EntryMetadata[]> {
    return await Promise.all(drafts.map((fields) => this.append(fields)));
  }

  /** Appends with a body that came through a spool, in random pieces. */
  async appendSpooled(fields: DraftFields, longest = 100_000): Promise<EntryMetadata> {
    const draft = draftOf(fields);
    await using spool = this.log.spool();
    await fill(spool, cut(draft.body, longest, randomOf(draft.body.length)));
    return this.remember(draft, await this.log.append({ ...draft, body: spool }));
  }

  remember(draft: InlineDraft, appended: SmallAppendResult): EntryMetadata {
    assert.ok(appended.outcome === 'appended', appended.outcome);
    const metadata = metadataOf(appended);
    assert.deepEqual([metadata.kind, metadata.room], [draft.kind, draft.room]);
    const exact = textOf(metadata, draft);
    const text = portableText(exact, metadata, draft);
    this.entries[metadata.seq - 1] = { metadata, text, exact, facets: facetsOf(draft) };
    return metadata;
  }

  /** Withholds, and expects nothing of what was said from then on; all of it where it is shown. Returns how many it changed. */
  async withhold(
    seqs: readonly number[],
    reason = 'spam',
    state?: WithholdingState,
  ): Promise<number> {
    const { log } = this;
    const before = log.withheld();
    const count = await log.withhold(seqs, reason, state);
    const listed = await Array.fromAsync(log.withholdings({ order: 'oldest', after: before }));
    assert.equal(listed.length, count);
    for (const { metadata, time, state: listedState } of listed) {
      const { seq, kind, room } = metadata;
      assert.equal(listedState, state ?? 'withheld');
      const entry = this.entries[seq - 1] ?? assert.fail('no such entry');
      assert.deepEqual(metadata, entry.metadata);
      if (state === 'shown') {
        this.entries[seq - 1] = this.#hidden.get(seq) ?? assert.fail('it was not hidden');
        continue;
      }
      if (state === 'hidden') this.#hidden.set(seq, entry);
      const at = new Date(time).toISOString();
      const member = `"withheld":${JSON.stringify({ at, reason })}`;
      const text = Buffer.from(`${entryHead(metadata)},${member}}`);
      const facets = new Set([hex(facet('kind', kind)), hex(facet('room', room))]);
      this.entries[seq - 1] = { metadata, text, exact: text, facets, isWithheld: true };
    }
    return count;
  }

  /** What a reading must give that began when the log had this many entries. */
  expect(selection: Partial<Selection>, length: number = this.entries.length): ExpectedReading {
    const { facets = [], order = 'newest', limit = Infinity } = selection;
    const wanted = Array.from(alternativesIn(facets), (any) => any.map(hex));
    const known: ExpectedEntry[] = [];
    let more = false;
    for (let at = 0; at < length; at++) {
      const one = this.entries[order === 'oldest' ? at : length - 1 - at];
      assert.ok(one !== undefined, 'a seq was left out');
      if (!isWithin(one.metadata, selection)) continue;
      if (one.isWithheld && selection.withheld !== 'include') continue;
      if (!wanted.every((any) => any.some((facet) => one.facets.has(facet)))) continue;
      if (known.length < limit) known.push(one);
      else more = true;
    }
    return { entries: known, end: { last: known.at(-1)?.metadata.seq, more } };
  }

  /** Holds if every way of reading gives what it must. */
  async check(selection: Partial<Selection> = {}): Promise<void> {
    const whole: Selection = { facets: [], order: 'newest', ...selection };
    const expected = this.expect(whole);
    for (const joiner of [',\n', '\n'] as const) {
      const { items, end } = await collect(this.log.readText(whole, joiner));
      assertSameBytes(Buffer.concat(items), joined(expected.entries, joiner), 'read()');
      assert.deepEqual(end, expected.end);
    }
    const reading = this.log.readEntries(whole);
    for (const one of expected.entries) {
      const step = await reading.next();
      if (step.done === true) assert.fail(`entries() ended before seq ${one.metadata.seq}`);
      assertHeld(step.value, one);
      // pieces() are slow to gather: those of all entries are in agreesThroughout().
      if (step.value.text === undefined || one.metadata.seq % 16 === 0) {
        await assertEntry(step.value, one);
      }
    }
    const last = await reading.next();
    assert.ok(last.done === true, 'entries() gave more than was selected');
    assert.deepEqual({ ...last.value }, expected.end);
  }

  /** Holds if everything that can be asked of the log is what it must be. */
  async checkAll(): Promise<void> {
    assert.equal(this.log.head(), this.entries.length);
    await this.check({ order: 'newest' });
    await this.check({ order: 'oldest' });
    await this.check({ withheld: 'include' });
    this.checkTally();
    for (const one of this.entries) {
      const entry = await this.log.entry(one.metadata.seq);
      assert.ok(entry !== undefined, `there is no entry ${one.metadata.seq}`);
      await assertEntry(entry, one);
    }
  }

  async checkCounts(bounds: readonly number[]): Promise<void> {
    for (const name of [...KINDS, ...ROOMS]) {
      const isKind = KINDS.some((kind) => kind === name);
      const counted = await this.log.countBetween(facet(isKind ? 'kind' : 'room', name), bounds);
      const expected = bounds.slice(1).map((end, index) => {
        const between = this.entries.slice((bounds[index] ?? end) - 1, end - 1);
        return between.filter(
          ({ metadata: { kind, room }, isWithheld }) =>
            !isWithheld && (isKind ? kind : room) === name,
        ).length;
      });
      assert.deepEqual(counted, expected, `${name} between ${bounds.join(', ')}`);
    }
  }

  checkTally(): void {
    const recount: RoomCount[] = [];
    for (const { metadata, isWithheld } of this.entries) {
      if (isWithheld) continue;
      const { room, kind, seq, time } = metadata;
      const at = recount.findIndex((tally) => tally.room === room && tally.kind === kind);
      const tally = { room, kind, count: (recount[at]?.count ?? 0) + 1, latest: { seq, time } };
      recount.splice(at < 0 ? recount.length : at, 1, tally);
    }
    const plain = this.log.roomCounts().map(({ room, kind, count, latest: { seq, time } }) => ({
      room,
      kind,
      count,
      latest: { seq, time },
    }));
    assert.deepEqual(plain.toSorted(byPlace), recount.toSorted(byPlace));
  }
}

/** One log for the tests of the suite that calls this: what they find does not depend on what else is there. */
export function sharedLog(open: Open): () => CheckedLog {
  let opened: Opened | undefined;
  let checked: CheckedLog | undefined;
  before(async () => {
    opened = await open();
    checked = new CheckedLog(opened.log);
  });
  after(() => opened?.[Symbol.asyncDispose]());
  return () => checked ?? assert.fail('no test of the suite runs');
}

export async function assertEntry(entry: Entry, known: ExpectedEntry): Promise<void> {
  assertHeld(entry, known);
  const text = await join(entry.chunks());
  assertSameBytes(text, known.text, `pieces() of entry ${known.metadata.seq}`);
}

function assertHeld(entry: Entry, { metadata, text, exact }: ExpectedEntry): void {
  const { seq, id, kind, room, time } = entry.metadata;
  assert.deepEqual({ seq, id, kind, room, time }, { ...metadata });
  const isRespelledFile = entry.portability === 'respelled' && entry.text === undefined;
  assert.equal(entry.size, (isRespelledFile ? exact : text).length);
  if (entry.text !== undefined) assertSameBytes(entry.text, text, `text of entry ${metadata.seq}`);
}

export function joined(known: readonly ExpectedEntry[], joiner: string): Buffer {
  const between = Buffer.from(joiner);
  return Buffer.concat(known.flatMap(({ text }, at) => (at === 0 ? [text] : [between, text])));
}

function textOf(metadata: EntryMetadata, { body }: InlineDraft): Buffer {
  const head = body.length === 0 ? entryHead(metadata) : `${entryHead(metadata)},`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from('}')]);
}

/** Knows these alone, and halves only where no other escape follows. */
function portableText(exact: Buffer, metadata: EntryMetadata, { portability }: Draft): Buffer {
  if (portability === 'respelled')
    return Buffer.from(
      exact
        .toString()
        .replaceAll(String.raw`\ud83d`, String.raw`\ufffd`)
        .replaceAll('\u2028', String.raw`\u2028`),
    );
  if (portability !== 'omitted') return exact;
  const omitted = { path: `/api/entries/${metadata.id}`, size: exact.length };
  return Buffer.from(`${entryHead(metadata)},"omitted":${JSON.stringify(omitted)}}`);
}

function facetsOf({ facets }: Draft): Set<string> {
  const found = new Set<string>();
  for (let at = 0; at < facets.length; at += FACET_SIZE) {
    found.add(hex(facets.subarray(at, at + FACET_SIZE)));
  }
  return found;
}

function isWithin({ seq, time }: EntryMetadata, selection: Partial<Selection>): boolean {
  const { after, before, since, until } = selection;
  if (after !== undefined && seq <= after) return false;
  if (before !== undefined && seq >= before) return false;
  if (since !== undefined && time < since) return false;
  return until === undefined || time < until;
}

function byPlace(one: RoomCount, other: RoomCount): number {
  return `${one.room} ${one.kind}` < `${other.room} ${other.kind}` ? -1 : 1;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
