/** A real gateway beside the model of what it must hold; every answer is compared. */
import assert from 'node:assert/strict';

import type { Answer } from '../../conformance/answer.ts';
import { entryOf, KINDS, type Kind } from '../../conformance/entry.ts';
import { Gateway, query } from '../../conformance/gateway.ts';
import { members } from '../../conformance/spelling.ts';
import { fields, list, parse, text, whole } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';
import type { Dice } from './dice.ts';
import { judge, ROOMS, type Verdict } from './judge.ts';
import { companionsOf, limitOf, ownText, selected, textOf, type Kept } from './model.ts';
import type { Question } from './model.ts';
import type { Post } from './traffic.ts';

const LARGE = 64 * 1024;
const NDJSON = 'application/x-ndjson';

export class House implements AsyncDisposable {
  readonly kept: Kept[] = [];
  /** The entry of each key that has one. */
  readonly entryOfKey = new Map<string, Kept>();
  /** What was said under each key first. */
  readonly posts = new Map<string, Post>();
  readonly #data: string;
  #process: GatewayProcess | undefined;
  #visitor: Gateway | undefined;

  constructor(data: string) {
    this.#data = data;
  }

  get visitor(): Gateway {
    assert.ok(this.#visitor, 'the gateway runs');
    return this.#visitor;
  }

  async open(): Promise<void> {
    this.#process = await startGatewayProcess({ data: this.#data });
    this.#visitor = new Gateway(this.#process.url);
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
    if (key === undefined) return await this.visitor.ask('POST', path, prefer, body);
    if (keyInQuery) {
      return await this.visitor.ask('POST', query(path, [['idempotency-key', key]]), prefer, body);
    }
    return await this.visitor.ask('POST', path, { ...prefer, 'idempotency-key': key }, body);
  }

  /** Says something while nobody else does, and compares the answer. */
  async say(post: Post): Promise<void> {
    const verdict = judge(post.kind, post.body);
    const answer = await this.post(post);
    if (verdict.outcome === 'refused') {
      this.refused(answer, verdict);
      return;
    }
    const before = post.key === undefined ? undefined : this.entryOfKey.get(post.key);
    if (before !== undefined && !sameContent(before, post.kind, verdict)) {
      const problem = answer.problem(422, 'idempotency-conflict');
      assert.equal(problem['entry'], `/api/entries/${before.id}`);
      return;
    }
    const { id, seq, timestamp } = entryOf(answer.expect(201).text);
    assert.equal(seq, before?.seq ?? this.kept.length + 1);
    const entry = before ?? this.keep({ id, seq, timestamp }, post, verdict);
    this.answered(answer, post, entry);
    if (before !== undefined || post.kind !== 'resonance' || reduced(post, entry)) return;
    const companions = members(answer.text).findLast(({ name }) => name === 'companions');
    assert.deepEqual(
      parse(companions?.value ?? ''),
      companionsOf(this.kept, entry).map((one) => parse(one)),
    );
  }

  keep(
    own: Pick<Kept, 'id' | 'seq' | 'timestamp'>,
    { kind, key }: Post,
    { room, said }: Verdict & { outcome: 'kept' },
  ): Kept {
    const entry = { ...own, kind, room, said, fields: fields(parse(`{${said}}`)) };
    assert.equal(entry.seq, this.kept.length + 1);
    assert.ok(entry.timestamp >= (this.kept.at(-1)?.timestamp ?? ''));
    this.kept.push(entry);
    if (key !== undefined) this.entryOfKey.set(key, entry);
    return entry;
  }

  refused(answer: Answer, { code, pointers }: Verdict & { outcome: 'refused' }): void {
    const problem = answer.problem(code === 'malformed-json' ? 400 : 422, code);
    if (code === 'malformed-json') return;
    const named = list(problem['faults'] ?? []).map((fault) => text(fields(fault)['pointer']));
    if (code === 'invalid-entry') assert.deepEqual(named.toSorted(), pointers);
    else assert.deepEqual(problem['known'], ROOMS);
  }

  /** A 201 must be of this entry. */
  answered(answer: Answer, post: Post, entry: Kept): void {
    assert.equal(answer.header('location'), `/api/entries/${entry.id}`);
    if (reduced(post, entry)) assert.equal(answer.text, `${ownText(entry)}}`);
    else if (post.kind !== 'resonance') assert.equal(answer.text, textOf(entry));
    else assert.ok(answer.text.startsWith(`${textOf(entry).slice(0, -1)},"welcome":`));
  }

  /** Asks while nobody speaks, and compares the answer and where its link leads. */
  async ask(question: Question, dice: Dice): Promise<void> {
    const path = pathOf(question);
    const all = selected(this.kept, question);
    const limit = limitOf(question);
    const first = all.slice(0, limit);
    if (dice.chance(0.2)) {
      const lines = (await this.visitor.get(path, { accept: NDJSON })).expect(200).text;
      assert.equal(lines, first.map((entry) => `${textOf(entry)}\n`).join(''), path);
      return;
    }
    const listing = await this.visitor.list(path);
    assert.equal(listing.head, this.kept.length);
    same(listing.entries, first, path);
    const oldest = question.pairs.some(([, value]) => value === 'oldest');
    if (limit === 0) return;
    if (oldest) assert.notEqual(listing.next, null, path);
    else assert.equal(listing.next === null, all.length <= limit, path);
    if (listing.next === null) return;
    const second = await this.visitor.list(listing.next);
    same(second.entries, all.slice(first.length, first.length + limit), listing.next);
  }

  /** Reads everything there is, in every way, and compares it. */
  async compareAll(dice: Dice): Promise<void> {
    for (const kind of KINDS) {
      const place = (entry: Kept): boolean => entry.kind === kind;
      for (const order of ['newest', 'oldest']) {
        await this.ask({ path: `/api/${kind}`, place, pairs: [['order', order]] }, dice);
      }
    }
    for (const room of ROOMS) {
      const place = (entry: Kept): boolean => entry.room === room;
      await this.ask({ path: `/api/rooms/${room}`, place, pairs: [] }, dice);
    }
    await this.compareRooms();
    await this.compareDiscovery();
    for (const entry of dice.some(this.kept, 50)) await this.read(entry);
    const keys = dice.some([...this.entryOfKey.keys()], 50);
    for (const key of keys) {
      const post = this.posts.get(key);
      if (post !== undefined) await this.say(post);
    }
  }

  async read(entry: Kept): Promise<void> {
    assert.equal((await this.visitor.read(`/api/entries/${entry.id}`)).text, textOf(entry));
  }

  async compareRooms(): Promise<void> {
    const rooms = list((await this.visitor.get('/api/rooms')).json['rooms']).map(fields);
    assert.deepEqual(
      rooms.map((room) => [room['slug'], room['entries'], room['latest']]),
      ROOMS.map((slug) => {
        const inside = this.kept.filter((entry) => entry.room === slug);
        return [slug, inside.length, inside.at(-1)?.timestamp ?? null];
      }),
    );
  }

  async compareDiscovery(): Promise<void> {
    const { head, newest } = (await this.visitor.get('/api/discover')).json;
    assert.equal(whole(head), this.kept.length);
    const wanted = this.kept.slice(-12).toReversed();
    const small = (entry: Kept): boolean => Buffer.byteLength(textOf(entry)) <= 16 * 1024;
    assert.deepEqual(
      newest,
      wanted.map((entry) => parse(small(entry) ? textOf(entry) : `${ownText(entry)}}`)),
    );
  }
}

export function pathOf({ path, pairs }: Question): string {
  return pairs.length === 0 ? path : query(path, pairs);
}

export function same(
  found: readonly { readonly text: string }[],
  wanted: readonly Kept[],
  what: string,
): void {
  assert.deepEqual(
    found.map((entry) => entry.text),
    wanted.map(textOf),
    what,
  );
}

export function sameContent(
  entry: Kept,
  kind: Kind,
  { room, said }: Verdict & { outcome: 'kept' },
): boolean {
  return entry.kind === kind && entry.room === room && entry.said === said;
}

/** Whether an answer has the own members only. */
function reduced({ minimal }: Post, entry: Kept): boolean {
  return minimal || Buffer.byteLength(textOf(entry)) > LARGE;
}
