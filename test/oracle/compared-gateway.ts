/** A real gateway beside the model of what it must hold; every answer is compared. */
import assert from 'node:assert/strict';

import type { Answer } from '../../conformance/answer.ts';
import { KINDS, parsedEntry, type Kind } from '../../conformance/entry.ts';
import { Gateway, query } from '../../conformance/gateway.ts';
import { members } from '../../conformance/spelling.ts';
import { asObject, asArray, parseJson, asString, asInteger } from '../../conformance/value.ts';
import type { GatewayProcess } from '../gateway-process.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { judge, ROOMS, type Verdict } from './judge.ts';
import {
  companionsOf,
  answered,
  limitOf,
  ownText,
  portableText,
  selected,
  textOf,
  type ModelEntry,
} from './model.ts';
import type { ListingQuery } from './model.ts';
import type { Post } from './traffic.ts';

const LARGE = 64 * 1024;
const NDJSON = 'application/x-ndjson';

/** Starts a gateway over the same data each time. */
export type Starting = () => Promise<{
  readonly gateway: GatewayProcess;
  /** Another gateway of its cluster, at which everything is read. */
  readonly reading?: string;
}>;

export class ComparedGateway implements AsyncDisposable {
  readonly entries: ModelEntry[] = [];
  /** The entry of each key that has one. */
  readonly entryOfKey = new Map<string, ModelEntry>();
  /** What was said under each key first. */
  readonly posts = new Map<string, Post>();
  readonly #start: Starting;
  #process: GatewayProcess | undefined;
  #visitor: Gateway | undefined;

  constructor(start: Starting) {
    this.#start = start;
  }

  get visitor(): Gateway {
    assert.ok(this.#visitor, 'the gateway runs');
    return this.#visitor;
  }

  async open(): Promise<void> {
    const { gateway, reading } = await this.#start();
    this.#process = gateway;
    this.#visitor = new Gateway(gateway.url, reading);
  }

  async end(how: 'stop' | 'kill'): Promise<void> {
    const ending = await this.#process?.[how]();
    if (how === 'stop') assert.deepEqual(ending, { code: 0, signal: null });
    this.#visitor?.[Symbol.dispose]();
    this.#process = undefined;
    this.#visitor = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    this.#visitor?.[Symbol.dispose]();
  }

  async post({ kind, body, key, keyInQuery, minimal }: Post): Promise<Answer> {
    const path = `/api/${kind}`;
    const prefer: Record<string, string> = minimal ? { prefer: 'return=minimal' } : {};
    if (key === undefined) return await this.visitor.request('POST', path, prefer, body);
    if (keyInQuery) {
      return await this.visitor.request(
        'POST',
        query(path, [['idempotency-key', key]]),
        prefer,
        body,
      );
    }
    return await this.visitor.request('POST', path, { ...prefer, 'idempotency-key': key }, body);
  }

  /** Says something while nobody else does, and compares the answer. */
  async submit(post: Post): Promise<void> {
    const verdict = judge(post.kind, post.body);
    const answer = await this.post(post);
    if (verdict.outcome === 'refused') {
      this.assertRefused(answer, verdict);
      return;
    }
    const before = post.key === undefined ? undefined : this.entryOfKey.get(post.key);
    if (before !== undefined && !sameContent(before, post.kind, verdict)) {
      const problem = answer.problem(422, 'idempotency-conflict');
      assert.equal(problem['entry'], `/api/entries/${before.id}`);
      return;
    }
    const { id, seq, timestamp } = parsedEntry(answer.expect(201).text, answer.value);
    assert.equal(seq, before?.seq ?? this.entries.length + 1);
    assert.equal(answer.header('idempotent-replayed') === 'true', before !== undefined);
    const entry = before ?? this.addEntry({ id, seq, timestamp }, post, verdict);
    this.assertCreated(answer, post, entry);
    if (before !== undefined || post.kind !== 'resonance' || reduced(post, entry)) return;
    const companions = members(answer.text).findLast(({ name }) => name === 'companions');
    assert.deepEqual(
      parseJson(companions?.value ?? ''),
      companionsOf(this.entries, entry).map((one) => parseJson(one)),
    );
  }

  addEntry(
    own: Pick<ModelEntry, 'id' | 'seq' | 'timestamp'>,
    { kind, key }: Post,
    { room, body }: Verdict & { outcome: 'kept' },
  ): ModelEntry {
    const entry = { ...own, kind, room, body, fields: asObject(parseJson(`{${body}}`)) };
    assert.equal(entry.seq, this.entries.length + 1);
    assert.ok(entry.timestamp >= (this.entries.at(-1)?.timestamp ?? ''));
    this.entries.push(entry);
    if (key !== undefined) this.entryOfKey.set(key, entry);
    return entry;
  }

  assertRefused(answer: Answer, { code, pointers }: Verdict & { outcome: 'refused' }): void {
    const problem = answer.problem(code === 'malformed-json' ? 400 : 422, code);
    if (code === 'malformed-json') return;
    const named = asArray(problem['faults'] ?? []).map((fault) =>
      asString(asObject(fault)['pointer']),
    );
    if (code === 'invalid-entry') assert.deepEqual(named.toSorted(), pointers);
    else assert.deepEqual(problem['known'], ROOMS);
  }

  /** A 201 must be of this entry. */
  assertCreated(answer: Answer, post: Post, entry: ModelEntry): void {
    assert.equal(answer.header('location'), `/api/entries/${entry.id}`);
    const noted = this.#withoutNotes(answer, entry);
    const isRepeated = answer.header('idempotent-replayed') === 'true';
    const text = isRepeated ? noted.replace(',"repeated":true', '') : noted;
    assert.equal(text !== noted, isRepeated);
    if (reduced(post, entry)) assert.equal(text, `${ownText(entry)}}`);
    else if (post.kind !== 'resonance') assert.equal(text, textOf(entry));
    else assert.ok(text.startsWith(`${textOf(entry).slice(0, -1)},"welcome":`));
  }

  /**
   * The text of a 201 without its notes: one if a reply names no entry, and others of members that
   * are nearly known.
   */
  #withoutNotes(answer: Answer, entry: ModelEntry): string {
    const { fields } = entry;
    const leadsNowhere =
      ['string', 'number'].includes(typeof fields['inReplyTo']) &&
      answered(this.entries, entry) === undefined;
    const last = members(answer.text).at(-1);
    // A visitor's own member is called otherwise.
    const notes = last?.name === 'notes' ? asArray(parseJson(last.value)).map(asString) : [];
    const ofMembers = notes.filter((note) => !note.startsWith('"inReplyTo" names no entry'));
    assert.equal(notes.length - ofMembers.length, Number(leadsNowhere));
    for (const note of ofMembers) {
      const [, name = ''] =
        /^("(?:[^"\\]|\\.)*") is stored as it is, but is not "/.exec(note) ?? [];
      assert.ok(asString(parseJson(name)) in fields, note);
    }
    if (last === undefined || notes.length === 0) return answer.text;
    return `${answer.text.slice(0, -`,${last.spelled}:${last.value}}`.length)}}`;
  }

  /** Asks while nobody speaks, and compares the answer and where its link leads. */
  async checkListing(listingQuery: ListingQuery, random: SeededRandom): Promise<void> {
    const path = pathOf(listingQuery);
    const all = selected(this.entries, listingQuery);
    const limit = limitOf(listingQuery);
    const first = all.slice(0, limit);
    if (random.chance(0.2)) {
      const lines = (await this.visitor.get(path, { accept: NDJSON })).expect(200).text;
      assert.equal(lines, first.map((entry) => `${portableText(entry)}\n`).join(''), path);
      return;
    }
    const listing = await this.visitor.list(path);
    assert.equal(listing.head, this.entries.length);
    assertSameEntries(listing.entries, first, path);
    const oldest = listingQuery.pairs.some(([, value]) => value === 'oldest');
    if (limit === 0) return;
    if (oldest) assert.notEqual(listing.next, null, path);
    else assert.equal(listing.next === null, all.length <= limit, path);
    if (listing.next === null) return;
    const second = await this.visitor.list(listing.next);
    assertSameEntries(second.entries, all.slice(first.length, first.length + limit), listing.next);
  }

  /** Reads everything there is, in every way, and compares it. */
  async compareAll(random: SeededRandom): Promise<void> {
    for (const kind of KINDS) {
      const place = (entry: ModelEntry): boolean => entry.kind === kind;
      for (const order of ['newest', 'oldest']) {
        await this.checkListing({ path: `/api/${kind}`, place, pairs: [['order', order]] }, random);
      }
    }
    for (const room of ROOMS) {
      const place = (entry: ModelEntry): boolean => entry.room === room;
      await this.checkListing({ path: `/api/rooms/${room}`, place, pairs: [] }, random);
    }
    await this.compareRooms();
    await this.compareDiscovery();
    for (const entry of random.some(this.entries, 50)) await this.checkEntry(entry);
    const keys = random.some([...this.entryOfKey.keys()], 50);
    for (const key of keys) {
      const post = this.posts.get(key);
      if (post !== undefined) await this.submit(post);
    }
  }

  async checkEntry(entry: ModelEntry): Promise<void> {
    assert.equal((await this.visitor.read(`/api/entries/${entry.id}`)).text, textOf(entry));
  }

  async compareRooms(): Promise<void> {
    const rooms = asArray((await this.visitor.get('/api/rooms')).json['rooms']).map(asObject);
    assert.deepEqual(
      rooms.map((room) => [room['slug'], room['entries'], room['latest']]),
      ROOMS.map((slug) => {
        const inside = this.entries.filter((entry) => entry.room === slug);
        return [slug, inside.length, inside.at(-1)?.timestamp ?? null];
      }),
    );
  }

  async compareDiscovery(): Promise<void> {
    const { head, newest } = (await this.visitor.get('/api/discover')).json;
    assert.equal(asInteger(head), this.entries.length);
    const wanted = this.entries.slice(-12).toReversed();
    const small = (entry: ModelEntry): boolean =>
      Buffer.byteLength(portableText(entry)) <= 16 * 1024;
    assert.deepEqual(
      newest,
      wanted.map((entry) => parseJson(small(entry) ? portableText(entry) : `${ownText(entry)}}`)),
    );
  }
}

export function pathOf({ path, pairs }: ListingQuery): string {
  return pairs.length === 0 ? path : query(path, pairs);
}

export function assertSameEntries(
  found: readonly { readonly text: string }[],
  wanted: readonly ModelEntry[],
  what: string,
): void {
  assert.deepEqual(
    found.map((entry) => entry.text),
    wanted.map(portableText),
    what,
  );
}

export function sameContent(
  entry: ModelEntry,
  kind: Kind,
  { room, body }: Verdict & { outcome: 'kept' },
): boolean {
  return entry.kind === kind && entry.room === room && entry.body === body;
}

/** Whether an answer has the own members only. */
function reduced({ minimal }: Post, entry: ModelEntry): boolean {
  return minimal || Buffer.byteLength(textOf(entry)) > LARGE;
}
