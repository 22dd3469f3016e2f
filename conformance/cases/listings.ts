import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { entryOf, KINDS, type Entry } from '../entry.ts';
import { EventStream } from '../event-stream.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asString, pluck } from '../value.ts';
import { body } from './rooms.ts';

const NDJSON = 'application/x-ndjson';

interface Crowd {
  readonly identity: string;
  /** Oldest first. */
  readonly ids: readonly string[];
  /** A listing's path with the crowd's filter and more parameters. */
  readonly path: (more?: Readonly<Record<string, string | number>>, place?: string) => string;
}

async function crowd(gateway: Gateway, count: number): Promise<Crowd> {
  const identity = uniqueName();
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    ids.push((await gateway.contribute('garden', traceBody(identity, { at }))).entry.id);
  }
  return {
    identity,
    ids,
    path: (more = {}, place = '/api/garden') =>
      query(place, [['identity', identity], ...Object.entries(more)]),
  };
}

const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);

export const listings: readonly Case[] = [
  check('8.1', 'form', async (gateway) => {
    const { path, ids } = await crowd(gateway, 3);
    for (const count of [0, 1, 2, 3]) {
      const listing = await gateway.list(path({ limit: count }));
      assert.deepEqual(Object.keys(listing.fields), ['entries', 'head', 'log', 'next']);
      assert.equal(listing.entries.length, count);
    }
    const answer = await gateway.get(path());
    assert.equal(answer.type, 'application/json');
    assert.deepEqual(idsOf((await gateway.list(path())).entries), ids.toReversed());
    for (const kind of KINDS) {
      const empty = await gateway.list(`/api/${kind}?identity=${uniqueName()}`);
      assert.deepEqual([empty.entries, empty.next], [[], null]);
    }
  }),
  check('8.1', 'all-kinds', async (gateway) => {
    const [author, reader] = [uniqueName('author'), uniqueName('reader')];
    const said: Entry[] = [];
    for (const kind of KINDS) {
      said.unshift((await gateway.contribute(kind, body(kind, author, { to: reader }))).entry);
    }
    const inbox = query('/api/entries', [['to', reader]]);
    const { entries: all } = await gateway.list(inbox);
    assert.deepEqual(idsOf(all), idsOf(said));
    for (const kind of KINDS) {
      const { entries } = await gateway.list(`${inbox}&kind=${kind}`);
      assert.deepEqual(pluck(entries, 'kind'), [kind]);
    }
    const lines = (await gateway.get(inbox, { accept: NDJSON })).expect(200);
    assert.deepEqual(
      lines.text.trimEnd().split('\n'),
      all.map(({ text }) => text),
    );
    using stream = await EventStream.open(gateway, `${inbox}&after=0&limit=4`);
    assert.deepEqual(idsOf(await stream.rest()), idsOf(said).toReversed());
  }),
  check('8.1', 'log', async (gateway) => {
    const { log } = await gateway.list('/api/entries?limit=0');
    assert.notEqual(log, '');
    for (const path of ['/api/garden?limit=0', '/api/discover', '/api/search?q=a&limit=0']) {
      assert.equal((await gateway.get(path)).json['log'], log, path);
    }
  }),
  check('8.1', 'everything', async (gateway) => {
    const identity = uniqueName();
    const count = 1500;
    const callers = Array.from({ length: 30 }, async (_, caller) => {
      for (let at = caller; at < count; at += 30)
        await gateway.contribute('garden', traceBody(identity, { at }));
    });
    await Promise.all(callers);
    for (const order of ['newest', 'oldest']) {
      const { entries } = await gateway.list(
        query('/api/garden', [
          ['identity', identity],
          ['order', order],
        ]),
      );
      assert.equal(entries.length, count);
      assert.equal(new Set(entries.map(({ fields }) => fields['at'])).size, count);
      const seqs = entries.map(({ seq }) => (order === 'newest' ? -seq : seq));
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b),
      );
    }
  }),
  check('8.1', 'head', async (gateway) => {
    const identity = uniqueName();
    const filter = query('/api/garden', [['identity', identity]]);
    const saying = async (): Promise<void> => {
      for (let at = 0; at < 100; at += 1) await gateway.contribute('garden', traceBody(identity));
    };
    const reading = async (): Promise<void> => {
      for (let before = 0; before < 100;) {
        const { entries, head } = await gateway.list(filter);
        for (const { seq } of entries) assert.ok(seq <= head);
        assert.ok(entries.length >= before);
        before = entries.length;
      }
    };
    await Promise.all([saying(), reading(), reading()]);
    const { entry } = await gateway.contribute('seeds', '{}');
    assert.ok((await gateway.list(filter)).head >= entry.seq);
  }),

  check('8.3', 'next-older', async (gateway) => {
    const { path, ids, identity } = await crowd(gateway, 12);
    const slug = await gateway.roomOf('garden');
    for (const limit of [1, 5, 6, 11, 12, 13]) {
      for (const place of ['/api/garden', `/api/rooms/${slug}`]) {
        assert.deepEqual(idsOf(await gateway.follow(path({ limit }, place))), ids.toReversed());
      }
      const { next } = await gateway.list(path({ limit }));
      assert.equal(next === null, limit >= ids.length, `limit ${limit}: ${next}`);
    }
    const { next } = await gateway.list(path({ limit: 4 }));
    await gateway.contribute('garden', traceBody(identity));
    const older = ids.toReversed().slice(4);
    assert.deepEqual(idsOf((await gateway.list(next ?? '')).entries), older.slice(0, 4));
    const middle = await gateway.list(path({ limit: 5 }));
    const bounded = { limit: 2, after: middle.entries[4]?.seq ?? 0 };
    const bound = idsOf(middle.entries).slice(0, 4);
    assert.deepEqual(idsOf(await gateway.follow(path(bounded))), bound);
  }),
  check('8.3', 'next-later', async (gateway) => {
    const { path, ids, identity } = await crowd(gateway, 12);
    for (const limit of [1, 5, 6, 12, 13]) {
      assert.deepEqual(idsOf(await gateway.follow(path({ limit, order: 'oldest' }))), ids);
    }
    const { next } = await gateway.list(path({ order: 'oldest' }));
    const quiet = await gateway.list(asString(next));
    assert.deepEqual(quiet.entries, []);
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    for (const link of [next, quiet.next]) {
      assert.deepEqual(idsOf((await gateway.list(asString(link))).entries), [entry.id]);
    }
    const nobody = uniqueName();
    const none = await gateway.list(`/api/seeds?order=oldest&identity=${nobody}`);
    const said = await gateway.contribute('seeds', traceBody(nobody));
    assert.deepEqual(idsOf((await gateway.list(asString(none.next))).entries), [said.entry.id]);
  }),
  check('8.3', 'next-of-none', async (gateway) => {
    const { path, identity } = await crowd(gateway, 2);
    const search = query('/api/search', [
      ['q', 'trace'],
      ['identity', identity],
    ]);
    for (const place of [path(), path({ after: 0 }, '/api/entries'), search]) {
      for (const order of ['newest', 'oldest']) {
        const answer = await gateway.get(`${place}&limit=0&order=${order}`);
        assert.equal(answer.json['next'], null, `${place} ${order}`);
        assert.ok(!(answer.header('link') ?? '').includes('rel="next"'));
      }
    }
    assert.equal((await gateway.get(`${search}&limit=0`)).json['next'], null);
  }),
  check('8.3', 'link-header', async (gateway) => {
    const { path } = await crowd(gateway, 3);
    for (const more of [{}, { limit: 1 }, { limit: 3 }, { order: 'oldest' }]) {
      const answer = await gateway.get(path(more));
      const link = answer.header('link');
      const next = answer.json['next'];
      if (link?.includes('rel="next"')) {
        assert.ok(link.split(', ').includes(`<${asString(next)}>; rel="next"`), link);
      }
    }
  }),

  check('8.4', 'form', async (gateway) => {
    const { path, ids } = await crowd(gateway, 3);
    const { entries } = await gateway.list(path());
    const lines = entries.map((entry) => `${entry.text}\n`).join('');
    const lined = [
      NDJSON,
      `${NDJSON}, application/json;q=0.9`,
      `application/json;q=0.1, ${NDJSON};q=0.2`,
      `text/csv, ${NDJSON};q=0.5`,
      NDJSON.toUpperCase(),
      `application/json;q=0, ${NDJSON}`,
    ];
    for (const accept of lined) {
      const answer = (await gateway.get(path(), { accept })).expect(200);
      assert.equal(answer.type, NDJSON, accept);
      assert.equal(answer.text, lines);
    }
    const plain = [
      'application/json',
      '*/*',
      'application/*',
      'text/csv',
      'image/*;q=0.5',
      'nonsense',
      '',
      `application/json, ${NDJSON};q=0.9`,
      `${NDJSON};q=0`,
    ];
    for (const accept of plain) {
      const answer = (await gateway.get(path(), { accept })).expect(200);
      assert.equal(answer.type, 'application/json', accept);
    }
    const oldest = await gateway.get(path({ order: 'oldest', limit: 2 }), { accept: NDJSON });
    const read = oldest.text.trimEnd().split('\n').map(entryOf);
    assert.deepEqual(idsOf(read), ids.slice(0, 2));
    const none = await gateway.get(path({ limit: 0 }), { accept: NDJSON });
    assert.equal(none.expect(200).text, '');
    const slug = await gateway.roomOf('garden');
    const room = await gateway.get(path({}, `/api/rooms/${slug}`), { accept: NDJSON });
    assert.equal(room.text, lines);
  }),
  check('8.5', 'news', async (gateway) => {
    const { path, identity } = await crowd(gateway, 2);
    const { head } = await gateway.list(path());
    assert.deepEqual((await gateway.list(path({ after: head }))).entries, []);
    const said: Entry[] = [];
    for (const kind of KINDS)
      said.push((await gateway.contribute(kind, body(kind, identity))).entry);
    const news = (await gateway.list(path({ after: head }))).entries;
    assert.deepEqual(idsOf(news), [said[1]?.id]);
    const { entries } = await gateway.list(`/api/seeds?after=${head}`);
    assert.ok(entries.some(({ id }) => id === said[2]?.id));
  }),
  check('8.6', 'weak-etag', async (gateway) => {
    const { path, identity } = await crowd(gateway, 1);
    const seen = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      const etag = (await gateway.get(path())).header('etag') ?? '';
      assert.match(etag, /^W\/"[^"]*"$/);
      assert.ok(!seen.has(etag), 'a changed listing has another ETag');
      seen.add(etag);
      await gateway.contribute('garden', traceBody(identity));
      (await gateway.get(path(), { 'if-none-match': etag })).expect(200);
    }
    const etag = (await gateway.get(path())).header('etag') ?? '';
    (await gateway.get(path(), { 'if-none-match': etag, accept: NDJSON })).expect(200);
  }),
];
