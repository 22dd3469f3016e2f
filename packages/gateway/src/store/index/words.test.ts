import assert from 'node:assert/strict';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { dataFolder } from '../../../../../test/gateway-process.ts';
import { callerEnded } from '../../ended-callers.ts';
import { facet } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import { bestSeqs, seqsFound, untilSearchable, textQuery } from '../../search/search.fixture.ts';
import { draftOf, randomOf, metadataOf } from '../../log/log.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { dataPathsIn } from '../data-paths.ts';
import { openForReading } from '../database.ts';
import { SharedState } from '../shared-state.ts';
import { WithheldSeqs } from '../withholding/withheld-seqs.ts';
import type { StoreChange } from '../store-thread.ts';
import { openSqliteLog } from '../store.ts';
import { IndexReader } from './index-database.ts';
import { rankedPages } from './ranked.ts';
import type { RankedPage } from './search-calls.ts';

const WORDS = ['mint', 'mine', 'water', 'stone', 'сад', 'саду', '庭', '🌱', 'rare', 'far'];
const NAMES = ['Lumen', 'Мавка', 'Nobody'];

describe('words in the SQLite store', () => {
  it('are found as a plain list finds them, in the same order', async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    await using log = await openSqliteLog({ folder });
    await using plain = openMemoryLog();
    const random = randomOf(20_261_121);
    const text = (most: number): string =>
      Array.from({ length: random(most) }, () => WORDS[random(WORDS.length)]).join(' ');
    const drafts = Array.from({ length: 400 }, () => {
      const identity = NAMES[random(2)] ?? '';
      const values = [text(12), text(4), text(3)];
      const body = JSON.stringify({ values, identity }).slice(1, -1);
      return draftOf({ body, members: { identity: [identity] } });
    });
    for (const store of [log, plain]) await Promise.all(drafts.map((draft) => store.append(draft)));
    await untilSearchable(log);
    for (let count = 0; count < 300; count += 1) {
      const terms = Array.from({ length: 1 + random(3) }, () => {
        const one = WORDS[random(WORDS.length)] ?? '';
        const two = WORDS[random(WORDS.length)] ?? '';
        return (
          [one, `${one} ${two}`, `${one.slice(0, 2)}*`, `${one} ${two.slice(0, 2)}*`][random(4)] ??
          one
        );
      });
      const none = random(3) === 0 ? [`-${WORDS[random(WORDS.length)]}`] : [];
      const query = textQuery(...terms, ...none);
      const facets = random(2) === 0 ? [] : [facet('identity', NAMES[random(3)] ?? '')];
      const what = {
        textQuery: query,
        facets,
        order: random(2) === 0 ? 'newest' : 'oldest',
      } as const;
      const bounds = { after: random(100), before: 300 + random(200), limit: 1 + random(60) };
      assert.deepEqual(
        await seqsFound(log, { ...what, ...bounds }),
        await seqsFound(plain, { ...what, ...bounds }),
      );
      const skip = random(3) * 20;
      assert.deepEqual(
        await bestSeqs(log, query, 40, skip),
        await bestSeqs(plain, query, 40, skip),
      );
      const which = { textQuery: query, facets, limit: 40, skip: 0, after: bounds.after };
      assert.deepEqual(
        await Array.fromAsync(log.readRanked(which), ({ metadata }) => metadata.seq),
        await Array.fromAsync(plain.readRanked(which), ({ metadata }) => metadata.seq),
      );
    }
  });

  it('come the best first, each once, to the last, also while others speak', async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    await using log = await openSqliteLog({ folder });
    const many = 17_000;
    const say = async (count: number): Promise<void> => {
      const appends = Array.from({ length: count }, (_, at) =>
        log.append(draftOf({ body: `"text":"${'garden '.repeat(1 + (at % 7))} both"` })),
      );
      await Promise.all(appends);
      await untilSearchable(log);
    };
    await say(many);
    const byRank = Array.from({ length: many }, (_, at) => at).toSorted(
      (one, other) => (other % 7) - (one % 7) || other - one,
    );
    const seqs = byRank.map((at) => at + 1);
    // Equal ranks are in order of time, newest first, whichever part of the index they are in.
    const ranked = await bestSeqs(log, textQuery('garden', 'both'), many);
    const groups = Map.groupBy(ranked, (seq) => (seq - 1) % 7);
    assert.equal(ranked.length, many);
    assert.deepEqual(
      ranked,
      [...groups.values()].flatMap((group) => group.toSorted((a, b) => b - a)),
    );
    const reading = log.readRanked({
      facets: [],
      textQuery: textQuery('garden'),
      skip: 0,
      limit: Infinity,
    });
    const given: Seq[] = [];
    for await (const { metadata } of reading) {
      given.push(metadata.seq);
      if (given.length % 5000 === 1) await say(100);
    }
    assert.equal(new Set(given).size, many);
    assert.deepEqual(given, seqs);
    assert.deepEqual(
      await bestSeqs(log, textQuery('garden'), 5, many),
      // Entries appended meanwhile are in a new query.
      (await bestSeqs(log, textQuery('garden'), many + 5)).slice(many),
    );
  });

  it('of very many entries are ranked in sections: each result once, whatever was skipped', async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    // Each part is a section.
    await using log = await openSqliteLog({ folder, partSize: 16_384 });
    const many = 17_000;
    const bodies = Array.from(
      { length: many },
      (_, at) => `"text":"${'mint '.repeat(1 + (at % 3))}"`,
    );
    await Promise.all(bodies.map((body) => log.append(draftOf({ body }))));
    const spool = log.spool();
    await spool.write(Buffer.from('"text":"mint stone"'));
    await log.append({ ...draftOf(), body: spool });
    await untilSearchable(log);
    const shared = new SharedState(log.connect().shared);
    using index = new IndexReader(dataPathsIn(folder), shared, () => assert.fail());
    using db = openForReading(dataPathsIn(folder).log);
    const context = { index, shared, withheld: new WithheldSeqs(db), maxRanked: 1 };
    const sectionOf = (seq: Seq): number => Math.floor((seq - 1) / 16_384);
    // The large entry has a word more than those that are as frequent in it.
    const rankOf = (seq: Seq): number => (seq > many ? -1 : (seq - 1) % 3);
    const expected = Array.from({ length: many + 1 }, (_, at) => at + 1).toSorted(
      (a, b) => sectionOf(b) - sectionOf(a) || rankOf(b) - rankOf(a) || b - a,
    );
    const base = { textQuery: textQuery('mint'), facets: [], low: 1, high: many + 1 };
    const read = (query: { high: Seq; skip: number; limit: number }): RankedPage[] => {
      const pages: RankedPage[] = [];
      let left = query.limit;
      for (const page of rankedPages(context, { ...base, ...query })) {
        if (page === undefined || page instanceof Promise) continue;
        pages.push(page);
        left -= page.seqs.length;
        if (left === 0) break;
      }
      return pages;
    };
    const seqsIn = (pages: readonly RankedPage[]): Seq[] => pages.flatMap(({ seqs }) => seqs);
    const all = read({ high: many + 1, skip: 0, limit: Infinity });
    assert.deepEqual(seqsIn(all), expected);
    assert.equal(new Set(all.map(({ section }) => section.low)).size, 2);
    for (const skip of [1, 590, 616, 617, 618, 16_400, many, many + 1, many + 2]) {
      const found = read({ high: many + 1, skip, limit: 40 });
      assert.deepEqual(seqsIn(found), expected.slice(skip, skip + 40), String(skip));
      assert.equal(found.at(-1)?.more, skip + 40 < many + 1);
    }
  });

  it('that are known are found while many others are ranked', async () => {
    await using folder = await dataFolder();
    await using log = await openSqliteLog({ folder: folder.path });
    for (let count = 0; count < 4; count += 1) {
      await Promise.all(
        Array.from({ length: 5000 }, () => log.append(draftOf({ body: '"text":"garden"' }))),
      );
    }
    await untilSearchable(log);
    const ended = new AbortController();
    const ranking = Array.from({ length: 12 }, async () => {
      while (!ended.signal.aborted) await bestSeqs(log, textQuery('garden'), 1);
    });
    for (let count = 0; count < 5; count += 1) {
      const { seq } = metadataOf(await log.append(draftOf({ body: `"text":"only${count}"` })));
      await untilSearchable(log);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery(`only${count}`) }), [seq]);
    }
    ended.abort();
    await Promise.all(ranking);
  });

  it('are no longer ranked for a caller who has left, nor for a log that closes', async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    const log = await openSqliteLog({ folder });
    await Promise.all(
      Array.from({ length: 3000 }, () => log.append(draftOf({ body: '"text":"garden"' }))),
    );
    await untilSearchable(log);
    const query = { facets: [], textQuery: textQuery('gar*'), skip: 0, limit: Infinity };
    const leaving = new AbortController();
    const { signal } = leaving;
    const begun = log.readRanked({ ...query, signal });
    await begun.next();
    const abandoned = Array.from({ length: 50 }, () => log.readRanked({ ...query, signal }).next());
    const others = Array.from({ length: 50 }, () => log.readRanked(query).next());
    const reason = new Error('left');
    leaving.abort(reason);
    for (const next of abandoned) await assert.rejects(next, reason);
    await assert.rejects(begun.next(), reason);
    const closing = log[Symbol.asyncDispose]();
    for (const next of others) await assert.rejects(next, { code: 'unavailable' });
    await closing;
  });

  it('are ranked for others first once a caller has ended its half, and for that caller too', async () => {
    await using temporary = await dataFolder();
    await using log = await openSqliteLog({ folder: temporary.path });
    await Promise.all(
      Array.from({ length: 3000 }, () => log.append(draftOf({ body: '"text":"garden"' }))),
    );
    await untilSearchable(log);
    const query = { facets: [], textQuery: textQuery('gar*'), skip: 0, limit: 1 };
    const { signal } = new AbortController();
    let answered = 0;
    const ended = Array.from({ length: 50 }, async () => {
      const { done } = await log.readRanked({ ...query, signal }).next();
      answered += 1;
      return done;
    });
    callerEnded(signal);
    await log.readRanked(query).next();
    assert.ok(answered < 25, `${answered} were answered before`);
    assert.ok((await Promise.all(ended)).every((done) => done === false));
  });

  it('are known but for those of a spoiled page of the log', async () => {
    await using temporary = await dataFolder();
    const { path: folder } = temporary;
    {
      await using log = await openSqliteLog({ folder });
      const appends = Array.from({ length: 9000 }, (_, at) =>
        log.append(draftOf({ body: `"text":"garden ${at === 4500 ? 'broken' : at}"` })),
      );
      await Promise.all(appends);
      await untilSearchable(log);
    }
    const file = join(folder, 'log.sqlite');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const bytes = await readFile(file);
    const page = Math.floor(bytes.indexOf('garden broken') / 4096) * 4096;
    await writeFile(file, bytes.fill(0xff, page, page + 8));
    await rm(join(folder, 'index.sqlite'));
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({ folder, onChange: (change) => changes.push(change) });
    await untilSearchable(log);
    assert.deepEqual(await bestSeqs(log, textQuery('broken'), 3), []);
    assert.deepEqual(await bestSeqs(log, textQuery('8999'), 3), [9000]);
    assert.deepEqual(changes, []);
  });

  it('of another log are not taken for its own', async () => {
    await using own = await dataFolder();
    await using other = await dataFolder();
    const folders = [own.path, other.path] as const;
    for (const [at, folder] of folders.entries()) {
      await using log = await openSqliteLog({ folder });
      for (let count = 0; count < 10 + at; count += 1) {
        await log.append(draftOf({ body: `"text":"from ${at === 0 ? 'first' : 'second'}"` }));
      }
      await untilSearchable(log);
    }
    await copyFile(join(folders[0], 'index.sqlite'), join(folders[1], 'index.sqlite'));
    await using log = await openSqliteLog({ folder: folders[1] });
    await untilSearchable(log);
    assert.equal((await seqsFound(log, { textQuery: textQuery('second') })).length, 11);
  });
});
