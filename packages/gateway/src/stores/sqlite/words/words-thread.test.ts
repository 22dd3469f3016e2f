import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { facet } from '../../../log/facet.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { bestSeqs, seqsFound, untilSearchable, textQuery } from '../../../search/search.fixture.ts';
import { draftOf, randomOf, stampOf } from '../../../log/log.fixture.ts';
import { openMemoryLog } from '../../memory/memory.ts';
import { dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { StoreChange } from '../store-thread.ts';
import { openSqliteLog } from '../store.ts';
import { QueryEngine } from './query-engine.ts';
import { RankedResults } from './ranked-results.ts';
import type { RankedPage } from './messages.ts';
import type { SearchSteps } from './search-turns.ts';

const WORDS = ['mint', 'mine', 'water', 'stone', 'сад', 'саду', '庭', '🌱', 'rare', 'far'];
const NAMES = ['Lumen', 'Мавка', 'Nobody'];

function resultOf<Result>(steps: SearchSteps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe('words in the SQLite store', () => {
  it('are found as a plain list finds them, in the same order', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
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
        await Array.fromAsync(log.readRanked(which), ({ stamp }) => stamp.seq),
        await Array.fromAsync(plain.readRanked(which), ({ stamp }) => stamp.seq),
      );
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('come the best first, each once, to the last, also while others speak', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
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
    // Equals are together, the newest first, whichever part of the index they are in.
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
    for await (const { stamp } of reading) {
      given.push(stamp.seq);
      if (given.length % 5000 === 1) await say(100);
    }
    assert.equal(new Set(given).size, many);
    assert.deepEqual(given, seqs);
    assert.deepEqual(
      await bestSeqs(log, textQuery('garden'), 5, many),
      // Entries appended meanwhile are in a new query.
      (await bestSeqs(log, textQuery('garden'), many + 5)).slice(many),
    );
    await rm(folder, { recursive: true, force: true });
  });

  it('of very many entries are ranked in sections: each result once, whatever was skipped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
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
    const shared = new SharedState();
    shared.head = shared.indexed = shared.searched = log.head();
    // Each part of 16,384 entries is a section.
    const engine = new QueryEngine(dataPathsIn(folder), shared, 1);
    const sectionOf = (seq: Seq): number => Math.floor((seq - 1) / 16_384);
    // The large entry has a word more than those that are as frequent in it.
    const rankOf = (seq: Seq): number => (seq > many ? -1 : (seq - 1) % 3);
    const expected = Array.from({ length: many + 1 }, (_, at) => at + 1).toSorted(
      (a, b) => sectionOf(b) - sectionOf(a) || rankOf(b) - rankOf(a) || b - a,
    );
    const base = { textQuery: textQuery('mint'), facets: [], low: 1, high: many + 1 };
    const read = (query: { high: Seq; skip: number; limit: number }): RankedPage[] => {
      using results = new RankedResults(engine.ranker, { ...base, ...query });
      const pages: RankedPage[] = [];
      for (let left = query.limit; left > 0;) {
        const page = resultOf(results.nextPage());
        pages.push(page);
        left -= page.seqs.length;
        if (!page.more) break;
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
    engine.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('that are known are found while many others are ranked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
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
      const { seq } = stampOf(await log.append(draftOf({ body: `"text":"only${count}"` })));
      await untilSearchable(log);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery(`only${count}`) }), [seq]);
    }
    ended.abort();
    await Promise.all(ranking);
    await rm(folder, { recursive: true, force: true });
  });

  it('are no longer ranked for a caller who has left, nor for a log that closes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
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
    await rm(folder, { recursive: true, force: true });
  });

  for (const spoiled of [
    undefined,
    '',
    'no database at all, but long enough to be taken for one '.repeat(99),
  ]) {
    const how =
      spoiled === undefined ? 'is missing' : spoiled === '' ? 'is empty' : 'is no database';
    it(`are read again when their file ${how}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'presence-'));
      {
        await using log = await openSqliteLog({ folder });
        for (let count = 0; count < 50; count += 1) await log.append(draftOf());
        await untilSearchable(log);
      }
      const file = join(folder, 'search.sqlite');
      for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true });
      if (spoiled !== undefined) await writeFile(file, spoiled);
      const changes: StoreChange[] = [];
      await using log = await openSqliteLog({ folder, onChange: (change) => changes.push(change) });
      await untilSearchable(log);
      const expected = spoiled === undefined ? [] : ['fails', 'works'];
      while (changes.length < expected.length) await pause(20);
      const made = changes.map(({ cause }) => (cause === undefined ? 'works' : 'fails'));
      assert.deepEqual(made, expected);
      assert.equal((await seqsFound(log, { textQuery: textQuery('тиша') })).length, 50);
      await rm(folder, { recursive: true, force: true });
    });
  }

  it('are read again wherever their file ends early', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    {
      await using log = await openSqliteLog({ folder });
      for (let count = 0; count < 50; count += 1) await log.append(draftOf());
      await untilSearchable(log);
    }
    const file = join(folder, 'search.sqlite');
    const pages = (await readFile(file)).length / 4096;
    for (let page = 0; page < pages; page += 1) {
      await truncate(file, page * 4096 + 1000);
      await using log = await openSqliteLog({ folder });
      await untilSearchable(log);
      assert.equal((await seqsFound(log, { textQuery: textQuery('тиша') })).length, 50);
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('are read again when a search finds their file spoiled, and the operator is told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    {
      await using log = await openSqliteLog({ folder });
      for (let count = 0; count < 4; count += 1) {
        const texts = Array.from({ length: 5000 }, (_, at) => `${'garden '.repeat(at % 7)} w${at}`);
        await Promise.all(texts.map((text) => log.append(draftOf({ body: `"text":"${text}"` }))));
      }
      await untilSearchable(log);
    }
    const file = join(folder, 'search.sqlite');
    await rm(`${file}-sums`);
    const bytes = await readFile(file);
    for (let page = 8; page < bytes.length / 4096 - 1; page += 1) {
      bytes.fill('A', page * 4096 + 500, page * 4096 + 3500);
    }
    await writeFile(file, bytes);
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({ folder, onChange: (change) => changes.push(change) });
    await untilSearchable(log);
    await assert.rejects(bestSeqs(log, textQuery('garden'), 5), { code: 'unavailable' });
    while (changes.length < 2) await pause(20);
    assert.deepEqual(
      changes.map(({ part, cause }) => [part, cause?.code]),
      [
        ['search', 'SQLite 267'],
        ['search', undefined],
      ],
    );
    await untilSearchable(log);
    assert.equal((await seqsFound(log, { textQuery: textQuery('w7') })).length, 4);
    assert.equal((await bestSeqs(log, textQuery('garden'), 5)).length, 5);
    await rm(folder, { recursive: true, force: true });
  });

  it('are read again when any byte of their file has changed, before a start or behind it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const texts = Array.from({ length: 300 }, (_, at) => `garden w${at}`);
    const changes: StoreChange[] = [];
    const onChange = (change: StoreChange): void => void changes.push(change);
    const isMadeAgain = async (log: Log): Promise<void> => {
      while (changes.length < 2) await pause(20);
      const made = changes.splice(0).map(({ part, cause }) => [part, cause !== undefined]);
      assert.deepEqual(made, [
        ['derived', true],
        ['derived', false],
      ]);
      await untilSearchable(log);
      assert.equal((await seqsFound(log, { textQuery: textQuery('garden') })).length, 300);
      assert.deepEqual(await bestSeqs(log, textQuery('w7'), 5), [8]);
    };
    {
      await using log = await openSqliteLog({ folder });
      await Promise.all(texts.map((text) => log.append(draftOf({ body: `"text":"${text}"` }))));
      await untilSearchable(log);
    }
    const file = join(folder, 'search.sqlite');
    const random = randomOf(20_261_122);
    for (let round = 0; round < 8; round += 1) {
      const bytes = await readFile(file);
      const at = random(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
      if (round % 2 === 0) await writeFile(file, bytes);
      await using log = await openSqliteLog({ folder, onChange });
      if (round % 2 === 1) {
        // Once searches are served.
        await untilSearchable(log);
        await seqsFound(log, { textQuery: textQuery('garden') });
        await writeFile(file, bytes);
      }
      await isMadeAgain(log);
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('can fail to be closed without ending the process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const log = await openSqliteLog({ folder });
    for (let count = 0; count < 5; count += 1) await log.append(draftOf());
    await untilSearchable(log);
    const file = join(folder, 'search.sqlite');
    const wal = readFileSync(`${file}-wal`);
    writeFileSync(`${file}-wal`, wal.fill(0xff, 1000, 1100));
    rmSync(`${file}-sums`);
    mkdirSync(`${file}-sums`);
    await log[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('are not looked for beyond what is known, as if nothing were there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    for (let count = 0; count < 5; count += 1) await log.append(draftOf());
    await untilSearchable(log);
    const shared = new SharedState();
    const engine = new QueryEngine(dataPathsIn(folder), shared);
    const query = { textQuery: textQuery('тиша'), facets: [], low: 1, high: 5 };
    const page = { ...query, order: 'newest', limit: 9 } as const;
    shared.searched = 5;
    assert.equal(resultOf(engine.page(page)).seqs.length, 5);
    shared.searched = 4;
    const refused = { code: 'unavailable' };
    assert.throws(() => resultOf(engine.page(page)), refused);
    const sink = { maxRank: Infinity, add: () => {} };
    assert.throws(() => resultOf(engine.ranker.rank(query, sink)), refused);
    engine.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('are known but for those of a spoiled page of the log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
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
    for (const end of ['', '-wal', '-shm']) {
      await rm(join(folder, `search.sqlite${end}`), { force: true });
    }
    const changes: StoreChange[] = [];
    await using log = await openSqliteLog({ folder, onChange: (change) => changes.push(change) });
    await untilSearchable(log);
    assert.deepEqual(await bestSeqs(log, textQuery('broken'), 3), []);
    assert.deepEqual(await bestSeqs(log, textQuery('8999'), 3), [9000]);
    assert.deepEqual(changes, []);
    await rm(folder, { recursive: true, force: true });
  });

  it('of another log are not taken for its own', async () => {
    const folders = [
      await mkdtemp(join(tmpdir(), 'presence-')),
      await mkdtemp(join(tmpdir(), 'presence-')),
    ] as const;
    for (const [at, folder] of folders.entries()) {
      await using log = await openSqliteLog({ folder });
      for (let count = 0; count < 10 + at; count += 1) {
        await log.append(draftOf({ body: `"text":"from ${at === 0 ? 'first' : 'second'}"` }));
      }
      await untilSearchable(log);
    }
    await writeFile(
      join(folders[1], 'search.sqlite'),
      await readFile(join(folders[0], 'search.sqlite')),
    );
    await assert.rejects(openSqliteLog({ folder: folders[1] }), /search\.sqlite knows of entry 10/);
    await using log = await openSqliteLog({ folder: folders[1], acceptLoss: true });
    await untilSearchable(log);
    assert.equal((await seqsFound(log, { textQuery: textQuery('second') })).length, 11);
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });
});
