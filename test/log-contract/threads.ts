/** Threads: an entry belongs to the thread of what it answers (PROTOCOL.md section 9). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { EntryMetadata } from '@open-presence/protocol';

import { facet, type Facet } from '../../packages/gateway/src/log/facet.ts';
import { randomOf } from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log, Selection } from '../../packages/gateway/src/log/log.ts';
import { threadFacet } from '../../packages/gateway/src/log/thread.ts';
import { textQuery, untilSearchable } from '../../packages/gateway/src/search/search.fixture.ts';
import { CheckedLog } from './checked-log.ts';
import { collect, type Open, type Reopenable } from './fixtures.ts';

const AUTHORS = ['Mova', 'Lumen', 'Мавка'];

interface Answer {
  readonly metadata: EntryMetadata;
  readonly root: number;
  readonly author: string;
  readonly parent: number | undefined;
}

/** A log beside a list of who answered what. */
class Conversation {
  readonly checked: CheckedLog;
  readonly said: Answer[] = [];

  constructor(log: Log) {
    this.checked = new CheckedLog(log);
  }

  /** `named`: what stands in `inReplyTo`. */
  async say(
    parent?: Answer,
    named: string | undefined = parent?.metadata.id,
    author = 'Mova',
  ): Promise<Answer> {
    const members = { identity: [author], ...(named === undefined ? {} : { inReplyTo: [named] }) };
    const body = `"text":"word${this.said.length % 3} said"`;
    const metadata = await this.checked.append({ body, members });
    const root = parent?.root ?? metadata.seq;
    const answer = { metadata, root, author, parent: parent?.metadata.seq };
    this.said.push(answer);
    return answer;
  }

  async check(
    root: number,
    rest: Partial<Selection> = {},
    gone: readonly number[] = [],
  ): Promise<void> {
    const { log } = this.checked;
    for (const order of ['newest', 'oldest'] as const) {
      const selection = { ...rest, facets: [threadFacet(root), ...(rest.facets ?? [])], order };
      const { items } = await collect(log.readEntries(selection));
      const seqs = items.map(({ metadata }) => metadata.seq);
      const wanted = this.said
        .filter((one) => one.root === root && !gone.includes(one.metadata.seq))
        .map(({ metadata }) => metadata.seq);
      const within = wanted.filter((seq) => isSelected(this.said[seq - 1], seq, rest));
      assert.deepEqual(seqs, order === 'newest' ? within.toReversed() : within);
    }
  }
}

function isSelected(said: Answer | undefined, seq: number, rest: Partial<Selection>): boolean {
  const { after = 0, before = Infinity, facets = [] } = rest;
  const own: Facet[] = [facet('identity', said?.author ?? ''), facet('kind', 'garden')];
  const has = facets.every((one) =>
    own.some((each) => one instanceof Uint8Array && Buffer.compare(each, one) === 0),
  );
  return seq > after && seq < before && has;
}

export function describeThreads(open: Open): void {
  describe('a thread', () => {
    it('has all that answers what it has, as soon as that is appended, with any other filter', async () => {
      await using opened = await open();
      const conversation = new Conversation(opened.log);
      const random = randomOf(11);
      for (let count = 0; count < 400; count += 1) {
        const parent = random(4) === 0 ? undefined : conversation.said[random(count + 1)];
        const author = AUTHORS[random(3)] ?? 'Mova';
        const named = parent === undefined ? undefined : spelled(parent.metadata, random(5));
        const { root } = await conversation.say(parent, named, author);
        if (count % 20 !== 0) continue;
        await conversation.check(root);
        await conversation.check(root, { facets: [facet('identity', author)] });
        await conversation.check(root, { after: random(count + 1), before: count });
        await conversation.check(root, { facets: [facet('kind', 'garden')], after: root });
      }
      await untilSearchable(opened.log);
      for (const { root } of conversation.said.slice(0, 20)) await conversation.check(root);
      const { items } = await collect(
        opened.log.readEntries({
          facets: [threadFacet(1)],
          textQuery: textQuery('word0'),
          order: 'oldest',
        }),
      );
      const wanted = conversation.said
        .filter((one, at) => one.root === 1 && at % 3 === 0)
        .map(({ metadata }) => metadata.seq);
      assert.deepEqual(
        items.map(({ metadata }) => metadata.seq),
        wanted,
      );
    });

    it('is the same however deep it is', async () => {
      await using opened = await open();
      const conversation = new Conversation(opened.log);
      let last = await conversation.say();
      for (let depth = 0; depth < 1500; depth += 1) last = await conversation.say(last);
      await conversation.check(1);
      assert.equal((await opened.log.entry(last.metadata.seq))?.thread, 1);
    });

    it('is begun by what names no entry, an id that was forged, or one that comes later', async () => {
      await using opened = await open();
      const conversation = new Conversation(opened.log);
      const { metadata } = await conversation.say();
      const { id } = metadata;
      const other = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
      const later = id.replace('7000-8000-00', '7000-8000-03');
      for (const named of ['nothing', '', other, later, `${id} `, '7', '8'])
        await conversation.say(undefined, named);
      for (const { root } of conversation.said) await conversation.check(root);
    });

    it('counts the answers to an entry', async () => {
      await using opened = await open();
      const conversation = new Conversation(opened.log);
      const first = await conversation.say();
      const second = await conversation.say(first);
      for (let count = 0; count < 5; count += 1) await conversation.say(second);
      await conversation.say(first);
      for (const [named, count] of [
        [first, 2],
        [second, 5],
      ] as const) {
        const answers = facet('inReplyTo', named.metadata.id);
        const counted = await opened.log.countBetween(answers, [1, opened.log.head() + 1]);
        assert.deepEqual(counted, [count]);
      }
    });

    it('loses what is withheld, and goes on', async () => {
      await using opened = await open();
      const conversation = new Conversation(opened.log);
      const root = await conversation.say();
      const middle = await conversation.say(root);
      const leaf = await conversation.say(middle);
      await conversation.checked.withhold([middle.metadata.seq, root.metadata.seq]);
      for (const answered of [root, middle, leaf]) await conversation.say(answered);
      await conversation.check(1, {}, [1, 2]);
      assert.equal((await opened.log.entry(2))?.thread, 1);
      await untilSearchable(opened.log);
      await conversation.check(1, {}, [1, 2]);
    });
  });
}

/** Threads that outlive the process. */
export function describeLastingThreads(open: () => Promise<Reopenable>): void {
  it('keeps threads, also of what was withheld', async () => {
    await using opened = await open();
    const conversation = new Conversation(opened.log);
    const root = await conversation.say();
    const middle = await conversation.say(root);
    await conversation.say(middle);
    await conversation.checked.withhold([middle.metadata.seq]);
    conversation.checked.log = await opened.reopen();
    await conversation.say(middle);
    await conversation.check(1, {}, [2]);
  });
}

/** By its seq, or in a form in which the gateway gives ids. */
function spelled({ id, seq }: EntryMetadata, form: number): string {
  return [id, id.toUpperCase(), `/api/entries/${id}`, `urn:uuid:${id}`][form] ?? String(seq);
}
