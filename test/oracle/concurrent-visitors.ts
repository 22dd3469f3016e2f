/**
 * Many visitors at once. What they were answered is compared afterwards with what the gateway
 * then holds: every answered entry once, in the order of the log, and no others, save that after a
 * kill an unanswered one may be there.
 */
import assert from 'node:assert/strict';

import type { Answer } from '../../conformance/answer.ts';
import { KINDS, parsedEntry, type Entry, type Listing } from '../../conformance/entry.ts';
import { SeededRandom } from '../seeded-random.ts';
import {
  pathOf,
  assertSameEntries,
  sameContent,
  type ComparedGateway,
} from './compared-gateway.ts';
import { judge } from './judge.ts';
import { limitOf, selected, type ModelEntry, type ListingQuery } from './model.ts';
import { plainPost, randomPost, randomListingQuery, type Post } from './traffic.ts';
import { pluck } from '../../conformance/value.ts';

interface Attempt {
  readonly post: Post;
  /** Undefined where the gateway was killed before it answered. */
  readonly answer: Answer | undefined;
}

interface Reading {
  readonly listingQuery: ListingQuery;
  readonly listing: Listing;
}

export class ConcurrentVisitors {
  readonly #gateway: ComparedGateway;
  readonly #attempts: Attempt[] = [];
  readonly #readings: Reading[] = [];
  readonly #before: number;
  #killed = false;

  constructor(gateway: ComparedGateway) {
    this.#gateway = gateway;
    this.#before = gateway.entries.length;
  }

  /** Resolves when every visitor has done its turns, or the gateway has been killed. */
  async visit(random: SeededRandom, visitors: number, turns: number): Promise<void> {
    const seeds = Array.from({ length: visitors }, () => random.below(2 ** 32));
    await Promise.all(seeds.map((seed) => this.#visitor(new SeededRandom(seed), turns)));
  }

  /** Resolves when the visitors have left enough similar traces for a store to pack them. */
  async flood(random: SeededRandom, visitors: number, turns: number): Promise<void> {
    const seeds = Array.from({ length: visitors }, () => random.below(2 ** 32));
    const leave = async (own: SeededRandom): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const post = plainPost(own);
        this.#attempts.push({ post, answer: await this.#gateway.post(post) });
      }
    };
    await Promise.all(seeds.map((seed) => leave(new SeededRandom(seed))));
  }

  /** As `visit`, while the gateway is killed. */
  async visitKilled(random: SeededRandom, visitors: number, turns: number): Promise<void> {
    const visiting = this.visit(random, visitors, turns);
    const enough = (visitors * turns) / 3;
    while (this.#attempts.length < enough) await new Promise((resume) => setTimeout(resume, 1));
    this.#killed = true;
    await this.#gateway.end('kill');
    await visiting;
  }

  async #visitor(random: SeededRandom, turns: number): Promise<void> {
    const gateway = this.#gateway;
    const known = gateway.entries.slice();
    for (let turn = 0; turn < turns; turn += 1) {
      try {
        if (random.chance(0.7)) {
          const post = randomPost(random, known, gateway.posts);
          this.#attempts.push({ post, answer: await this.#unlessKilled(gateway.post(post)) });
        } else {
          const listingQuery = randomListingQuery(random, known);
          const listing = await this.#unlessKilled(gateway.visitor.list(pathOf(listingQuery)));
          if (listing !== undefined) this.#readings.push({ listingQuery, listing });
        }
      } catch (error) {
        if (!this.#killed) throw error;
      }
      if (this.#killed) return;
    }
  }

  async #unlessKilled<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (this.#killed) return undefined;
      throw error;
    }
  }

  /** Takes over what came, once it is sure that it may be so. */
  async reconcile(): Promise<void> {
    const came = await this.#whatCame();
    const posts = this.#answered(came);
    for (const entry of came) {
      const post = posts.get(entry.id) ?? this.#unanswered(entry);
      const verdict = judge(post.kind, post.body);
      assert.ok(verdict.outcome === 'kept');
      assert.deepEqual(
        [entry.kind, entry.room, entry.body],
        [post.kind, verdict.room, verdict.body],
      );
      this.#gateway.addEntry(entry, post, verdict);
    }
    for (const { post, answer } of this.#attempts) this.#compare(post, answer);
    for (const { listingQuery, listing } of this.#readings) {
      const then = this.#gateway.entries.slice(0, listing.head);
      assertSameEntries(
        listing.entries,
        selected(then, listingQuery).slice(0, limitOf(listingQuery)),
        pathOf(listingQuery),
      );
    }
  }

  /** Every entry since the crowd came, in the order of the log, which has no gaps. */
  async #whatCame(): Promise<Entry[]> {
    const came: Entry[] = [];
    for (const kind of KINDS) {
      const { entries } = await this.#gateway.visitor.list(`/api/${kind}?after=${this.#before}`);
      came.push(...entries);
    }
    came.sort((a, b) => a.seq - b.seq);
    assert.deepEqual(
      pluck(came, 'seq'),
      came.map((_, at) => this.#before + 1 + at),
    );
    return await Promise.all(came.map((entry) => this.#exact(entry)));
  }

  /** An entry as it was said, where a listing may have it in another form. */
  async #exact(entry: Entry): Promise<Entry> {
    if (!/"omitted":|\\u(?:fffd|0085|202[89])/.test(entry.text)) return entry;
    return await this.#gateway.visitor.read(`/api/entries/${entry.id}`);
  }

  /** What was said with each new entry that was answered: all of them came. */
  #answered(came: readonly Entry[]): Map<string, Post> {
    const posts = new Map<string, Post>();
    for (const { post, answer } of this.#attempts) {
      if (answer?.status !== 201) continue;
      const { id, seq } = parsedEntry(answer.text, answer.value);
      if (seq <= this.#before) continue;
      const other = posts.get(id);
      assert.ok(other === undefined || other.key !== undefined, 'an entry is one visitor’s');
      assert.equal(other?.key ?? post.key, post.key);
      posts.set(id, post);
    }
    const ids = new Set(came.map(({ id }) => id));
    for (const id of posts.keys()) assert.ok(ids.has(id), `an answered entry is lost: ${id}`);
    return posts;
  }

  /** An attempt that was never answered and would have made this entry. Each serves once. */
  #unanswered(entry: Entry): Post {
    const place = this.#attempts.findIndex(({ post, answer }) => {
      if (answer !== undefined) return false;
      const verdict = judge(post.kind, post.body);
      if (verdict.outcome !== 'kept' || post.kind !== entry.kind) return false;
      return verdict.room === entry.room && verdict.body === entry.body;
    });
    const [attempt] = place < 0 ? [] : this.#attempts.splice(place, 1);
    assert.ok(attempt, `nobody said this: ${entry.text}`);
    return attempt.post;
  }

  #compare(post: Post, answer: Answer | undefined): void {
    if (answer === undefined) return;
    const verdict = judge(post.kind, post.body);
    if (verdict.outcome === 'refused') {
      this.#gateway.assertRefused(answer, verdict);
      return;
    }
    const ofKey = post.key === undefined ? undefined : this.#gateway.entryOfKey.get(post.key);
    if (ofKey !== undefined && !sameContent(ofKey, post.kind, verdict)) {
      const problem = answer.problem(422, 'idempotency-conflict');
      assert.equal(problem['entry'], `/api/entries/${ofKey.id}`);
      return;
    }
    const { id, seq } = parsedEntry(answer.expect(201).text, answer.value);
    const entry: ModelEntry | undefined = this.#gateway.entries[seq - 1];
    assert.ok(entry?.id === id && (ofKey === undefined || ofKey.id === id));
    this.#gateway.assertCreated(answer, post, entry);
  }
}
