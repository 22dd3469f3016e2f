import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Log } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { openSqliteLog } from '../../store/store.ts';
import { fetchBytes, openGateway, type TestGateway } from '../../gateway.fixture.ts';

interface Found {
  readonly results: readonly {
    readonly entry: { readonly seq: number; readonly text?: string };
    readonly snippet: string;
  }[];
  readonly head: number;
  readonly known: number;
  readonly next: string | null;
}

async function read<Document>(gateway: TestGateway, path: string): Promise<Document> {
  const { status, bytes } = await fetchBytes(gateway, path);
  assert.equal(status, 200, bytes.toString());
  return JSON.parse(bytes.toString()) as Document;
}

const search = (gateway: TestGateway, query: string): Promise<Found> =>
  read(gateway, `/api/search?${query}`);
const seqsOf = ({ results }: Found): number[] => results.map(({ entry }) => entry.seq);

async function searched(log: Log): Promise<void> {
  while (log.searchWatermark() < log.head()) await pause(20);
}

describe('a search', () => {
  it('says up to where it has looked while the index is behind', async () => {
    await using log = openMemoryLog();
    // An index that stands still.
    log.searchWatermark = () => 1;
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint', 'mint');
    const path = '/api/search?q=mint';
    const found = await read<Found & { notes: string[] }>(gateway, path);
    assert.deepEqual([seqsOf(found), found.known, found.head], [[1], 1, 2]);
    assert.match(found.notes[0] ?? '', /up to seq 1, and its head is 2/);
    const earlier = await read<Found & { notes?: string[] }>(gateway, `${path}&before=2`);
    assert.equal(earlier.notes, undefined);
  });

  it('finds what was stored just before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      await using log = await openSqliteLog({ folder });
      await using gateway = await openGateway(log);
      for (const text of ['mint', 'mint', 'mint']) {
        await gateway.addEntries(text);
        const { results, known, head } = await search(gateway, 'q=mint&order=oldest');
        assert.ok(known < head || results.length === head);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('leaves out an entry that is withheld meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      await using log = await openSqliteLog({ folder });
      await using gateway = await openGateway(log);
      await gateway.addEntries('mint', 'mint');
      await searched(log);
      const readRanked = log.readRanked.bind(log);
      log.readRanked = async function* (query) {
        const results = readRanked(query);
        const first = await results.next();
        if (first.done === true) return first.value;
        await log.withhold([1], 'Spam');
        yield first.value;
        return yield* results;
      };
      assert.deepEqual(seqsOf(await search(gateway, 'q=mint')), [2]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('gives the best first, each with a snippet, and a link to the rest', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries(
      'no such word',
      'mint and water',
      'mint, mint',
      'a long way round to find mint',
    );
    const first = await search(gateway, 'q=mint&limit=2');
    assert.deepEqual(seqsOf(first), [3, 2]);
    assert.deepEqual([first.head, first.known], [4, 4]);
    assert.equal(first.results[0]?.snippet, 'mint, mint');
    await gateway.addEntries('mint');
    const second = await read<Found>(gateway, first.next ?? '');
    assert.deepEqual(seqsOf(second), [4]);
    assert.equal(second.next, null);
    assert.deepEqual(seqsOf(await search(gateway, 'q=mint&order=oldest&limit=2')), [2, 3]);
    assert.deepEqual(seqsOf(await search(gateway, 'q=mint&order=newest')), [5, 4, 3, 2]);
    assert.deepEqual(seqsOf(await search(gateway, 'q=mint&limit=0')), []);
    assert.deepEqual(seqsOf(await search(gateway, 'q=mint&limit=9&skip=9')), []);
  });

  it('links to others only where there are some', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint', 'mint and water');
    const next = async (query: string): Promise<string | null> =>
      (await search(gateway, query)).next;
    assert.match((await next('q=mint&limit=1')) ?? '', /&skip=1&before=3$/);
    assert.equal(await next('q=mint&limit=0'), null);
    assert.equal(await next('q=stone&limit=0'), null);
    assert.equal(await next('q=mint&limit=0&skip=2'), null);
    assert.equal(await next('q=mint&limit=1&skip=1'), null);
    assert.equal(await next('q=stone&limit=0&order=newest'), null);
  });

  it('ranks very many matches in sections, the newest first, gives each once, and says so', async () => {
    await using log = openMemoryLog(3);
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint', 'mint mint', 'water', 'mint', 'mint mint', 'mint', 'stone');
    type Section = Found & { readonly rankedFrom?: number; readonly notes?: readonly string[] };
    const all = await read<Section>(gateway, '/api/search?q=mint');
    assert.deepEqual(seqsOf(all), [5, 6, 4, 2, 1]);
    assert.equal(all.rankedFrom, 4);
    assert.match(all.notes?.[0] ?? '', /the best of those from seq 4 on/);
    const pages: Section[] = [];
    for (let path: string | null = '/api/search?q=mint&limit=2'; path !== null;) {
      pages.push(await read<Section>(gateway, path));
      path = pages.at(-1)?.next ?? null;
      await gateway.addEntries('mint');
    }
    assert.deepEqual(pages.map(seqsOf), [[5, 6], [4, 2], [1]]);
    assert.deepEqual(
      pages.map(({ rankedFrom }) => rankedFrom),
      [4, 4, undefined],
    );
    assert.equal(pages[2]?.notes, undefined);
    const filtered = await read<Section>(gateway, '/api/search?q=water');
    assert.equal(filtered.rankedFrom, undefined);
  });

  it('gives all that was found, where no limit is asked for', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries(...Array.from({ length: 120 }, () => 'mint'));
    for (const order of ['best', 'newest', 'oldest']) {
      const { results } = await search(gateway, `q=mint&order=${order}`);
      assert.equal(results.length, 120, order);
    }
  });

  it('has the words that were sought in its snippets, as plain text cut between words', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    const around = 'слово '.repeat(100);
    await gateway.addEntries(`${around}пам’ять\n<b>саду</b> ${around}`);
    const { results } = await search(gateway, `q=${encodeURIComponent("пам'ять сад*")}`);
    const snippet = results[0]?.snippet ?? '';
    assert.match(snippet, /^…слово .* пам’ять <b>саду<\/b> слово .* слово…$/);
    assert.ok(snippet.length <= 242);
  });

  it('shows what was said in an entry that not every reader can read, and no half of a character', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    const nested = `${'['.repeat(70)}"deep thyme"${']'.repeat(70)}`;
    for (const body of [
      `{"text":"mint","nested":${nested}}`,
      JSON.stringify({ text: `a ${'\u200b'.repeat(300)}basil${'\u0301'.repeat(3)}` }),
      JSON.stringify({ text: `${'🌱'.repeat(91)} sage ${'x🌱'.repeat(80)}🌱` }),
    ]) {
      const answer = await fetch(`${gateway.url}/api/seeds`, { method: 'POST', body });
      assert.equal(answer.status, 201);
    }
    await searched(log);
    const snippetOf = async (word: string): Promise<string> =>
      (await search(gateway, `q=${word}`)).results[0]?.snippet ?? '';
    assert.equal(await snippetOf('mint'), 'mint');
    assert.equal(await snippetOf('thyme'), 'deep thyme');
    assert.match(await snippetOf('basil'), /basil/);
    assert.match(await snippetOf('sage'), /^….*sage (?:x🌱)+x?…$/v);
  });

  it('takes words, phrases, beginnings and exclusions, and the filters of listings', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries(
      'red garden',
      'garden red',
      'gardening in red',
      'a red garden at night',
    );
    const found = async (query: string, more = ''): Promise<number[]> =>
      seqsOf(await search(gateway, `order=oldest&q=${encodeURIComponent(query)}${more}`));
    assert.deepEqual(await found('red garden'), [1, 2, 4]);
    assert.deepEqual(await found('"red garden"'), [1, 4]);
    assert.deepEqual(await found('«Red  GARDEN»'), [1, 4]);
    assert.deepEqual(await found('"red gard"*'), [1, 4]);
    assert.deepEqual(await found('gard* -garden'), [3]);
    assert.deepEqual(await found('red -"garden at"'), [1, 2, 3]);
    assert.deepEqual(await found('red & garden - night'), [4]);
    assert.deepEqual(await found('garden', '&q=night'), [4]);
    assert.deepEqual(await found('garden', '&identity=Lumen&kind=garden&after=1'), [2, 4]);
    assert.deepEqual(await found('garden', '&identity=Nobody'), []);
  });

  it('says what is wrong with words that cannot be looked for', async () => {
    await using log = openMemoryLog();
    await using gateway = await openGateway(log);
    const wrongs: Readonly<Record<string, RegExp>> = {
      '': /"q" must be words to search for/,
      'q=': /"q" must be words with letters or digits/,
      'q=!!!': /with letters or digits, such as/,
      'q=-noise': /at least one word to find/,
      'q="open': /a phrase that ends with a quotation mark/,
      'q=wo*rd': /a \* only at the end/,
      'q=a *': /before the \*/,
      'q=a NOT': /one to exclude after each NOT/,
      'q=a&order=sideways': /"order" must be/,
      'q=a&order=best&order=newest': /"order" must be either .*, got several of them/,
      'q=a&skip=-1': /"skip" must be a whole number/,
      'q=a&limit=x': /"limit" must be/,
    };
    for (const [query, wanted] of Object.entries(wrongs)) {
      const { status, bytes } = await fetchBytes(gateway, `/api/search?${encodeURI(query)}`);
      assert.equal(status, 400, query);
      const problem = JSON.parse(bytes.toString()) as { code: string; detail: string };
      assert.equal(problem.code, 'invalid-parameter');
      assert.match(problem.detail, wanted);
    }
    for (const path of ['/api/events?q=mint', '/api/garden?q=mint']) {
      const { status, bytes } = await fetchBytes(gateway, path, { Accept: 'text/event-stream' });
      assert.equal(status, 400);
      assert.match(bytes.toString(), /\\"q\\" has no effect here/);
    }
  });

  it('reads a hundred thousand words', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint');
    await searched(log);
    const others = Array.from({ length: 100_000 }, (_, at) => `-w${at}`).join('+');
    assert.deepEqual(seqsOf(await search(gateway, `q=mint+${others}`)), [1]);
    const wanted = Array.from({ length: 100_000 }, () => 'mint').join('+');
    assert.deepEqual(seqsOf(await search(gateway, `q=${wanted}`)), [1]);
    await rm(folder, { recursive: true, force: true });
  });
});

describe('words in a listing', () => {
  it('are a filter like others, known up to where it says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint one', 'other', 'mint two', 'mint three');
    await searched(log);
    type Listing = { entries: { seq: number }[]; head: number; known: number; next: string };
    const first = await read<Listing>(gateway, '/api/garden?q=mint&limit=2');
    assert.deepEqual(
      first.entries.map(({ seq }) => seq),
      [4, 3],
    );
    assert.deepEqual([first.head, first.known], [4, 4]);
    const rest = await read<Listing>(gateway, first.next);
    assert.deepEqual([rest.entries.map(({ seq }) => seq), rest.next], [[1], null]);
    const room = '/api/rooms/consciousness-garden?q=mint&identity=Lumen&before=4';
    assert.equal((await read<Listing>(gateway, room)).entries.length, 2);
    assert.equal((await read<Listing>(gateway, '/api/rooms/shepit-wall?q=mint')).entries.length, 0);
    await rm(folder, { recursive: true, force: true });
  });

  it('are asked for anew when more are known, and waited for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    await using gateway = await openGateway(log);
    await gateway.addEntries('water');
    await searched(log);
    const path = '/api/garden?q=mint&after=1';
    const asking = read<{ entries: unknown[] }>(gateway, `${path}&wait=20`);
    await gateway.addEntries('mint');
    await fetchBytes(gateway, path);
    assert.equal((await asking).entries.length, 1);
    assert.equal((await read<{ entries: unknown[] }>(gateway, path)).entries.length, 1);
    await rm(folder, { recursive: true, force: true });
  });
});
