import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { getRequest, openGateway, type TestGateway } from '../../gateway.fixture.ts';
import type { Log } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

type Members = Record<string, unknown>;

const SECRET = 'Xyzzy4711';
const REASON = 'Asked for by its author';

interface Place {
  readonly gateway: TestGateway;
  readonly log: Log;
  /** Of the entries, in their order. */
  readonly ids: readonly string[];
  post(kind: string, members: object, key?: string): Promise<Members>;
}

/** Four entries with the secret in every place that has a meaning, and a reply to the second. */
async function openPlace(log: Log = openMemoryLog()): Promise<Place> {
  const gateway = await openGateway(log);
  const ids: string[] = [];
  const post = async (kind: string, members: object, key?: string): Promise<Members> => {
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
    const init = { method: 'POST', headers, body: JSON.stringify(members) };
    const answer = await fetch(`${gateway.url}/api/${kind}`, init);
    assert.equal(answer.status, 201);
    const entry = (await answer.json()) as Members;
    ids.push(String(entry['id']));
    return entry;
  };
  await post('resonance', { ai_identity: SECRET, seeking: [SECRET], extra: SECRET });
  const text = { text: `${SECRET} said`, identity: SECRET, identityType: SECRET };
  await post('garden', { ...text, to: SECRET, inReplyTo: ids[0] }, 'key');
  await post('garden', { ...text, text: `${SECRET} `.repeat(20_000) });
  await post('shepit', { [SECRET]: [SECRET], room: 'memory-garden' });
  await post('garden', {
    text: 'an answer',
    identity: 'B',
    identityType: 'human',
    inReplyTo: ids[1],
  });
  return { gateway, log, ids, post };
}

const LISTINGS = ['entries', 'resonance', 'garden', 'shepit', 'rooms/memory-garden'];

function pathsOf([first = '', second = '', large = '']: readonly string[]): string[] {
  return [
    ...LISTINGS.flatMap((name) => [
      `/api/${name}`,
      `/api/${name}.atom`,
      `/api/${name}.json-feed`,
      `/api/${name}?order=oldest`,
    ]),
    ...[first, second, large].flatMap((id) => [
      `/api/entries/${id}`,
      `/entries/${id}`,
      `/web/entries/${id}`,
      `/api/entries/${id}/replies`,
    ]),
    '/',
    '/garden',
    '/rooms/memory-garden',
    '/rooms/consciousness-garden',
    '/api/search?q=said',
    '/search?q=said',
    '/api/presence',
    '/api/discover',
    '/api/rooms',
    '/api/log',
    '/web/garden',
    '/feed.atom',
    '/feed.json',
    '/api/events?after=0&limit=1',
    '/web/events?after=0&limit=1',
    '/api/entries?after=0&wait=1',
    '/api/withheld',
  ];
}

async function answersOf({ gateway, ids }: Place): Promise<[path: string, text: string][]> {
  const answers: [string, string][] = [];
  for (const path of pathsOf(ids)) {
    const isPage = !/^\/(api|web|feed)/.test(path);
    const stream = path.includes('events') ? 'text/event-stream' : '*/*';
    const headers = { Accept: isPage ? 'text/html' : stream };
    const answer = await fetch(gateway.url + path, { headers, redirect: 'manual' });
    assert.equal(answer.status, 200, path);
    answers.push([path, await answer.text()]);
  }
  return answers;
}

async function call(place: Place, path: string, body: object): Promise<string> {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'A2A-Version': '1.0',
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return await (await fetch(place.gateway.url + path, init)).text();
}

async function toolsAndSkills(place: Place): Promise<string[]> {
  const tool = (name: string, args: object): Promise<string> => {
    const params = { name, arguments: args };
    return call(place, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  };
  const skill = (data: object): Promise<string> => {
    const params = { message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } };
    return call(place, '/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  };
  const [id] = place.ids;
  return await Promise.all([
    tool('get_entry', { id }),
    tool('read', {}),
    skill({ skill: 'get-entry', id }),
    skill({ skill: 'read' }),
    tool('who_is_here', {}),
    tool('search', { q: 'said' }),
    skill({ skill: 'who-is-here' }),
    skill({ skill: 'search', q: 'said' }),
  ]);
}

suite('what was withheld', () => {
  test('is in no answer of any door, nor in what was cached before', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    const before = (await answersOf(place)).filter(([, text]) => text.includes(SECRET));
    assert.ok(before.length > 35, `${before.length}`);
    assert.ok((await toolsAndSkills(place)).every((text) => text.includes(SECRET)));
    assert.equal(await place.log.withhold([1, 2, 3, 4], REASON), 4);
    for (const [path, text] of await answersOf(place)) assert.ok(!text.includes(SECRET), path);
    const answers = await toolsAndSkills(place);
    for (const text of answers) assert.ok(!text.includes(SECRET), text);
    for (const [at, text] of answers.entries())
      assert.equal(text.includes(REASON), at === 0 || at === 2, text);
    assert.deepEqual(gateway.reported, []);
  });

  test('leaves the entry at its address, with its own members, when and why, and in no list', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    const url = `${gateway.url}/api/entries/${place.ids[1]}`;
    const said = await fetch(url);
    const { id, seq, kind, room, timestamp } = (await said.json()) as Members;
    assert.match(said.headers.get('cache-control') ?? '', /no-cache/);
    await place.log.withhold([2], REASON);
    const headers = { 'If-None-Match': said.headers.get('etag') ?? '' };
    const found = await fetch(url, { headers });
    assert.equal(found.status, 200);
    const entry = (await found.json()) as Members & { withheld: { at: string } };
    const { at } = entry.withheld;
    assert.deepEqual(entry, { id, seq, kind, room, timestamp, withheld: { at, reason: REASON } });
    const again = await fetch(url, {
      headers: { 'If-None-Match': found.headers.get('etag') ?? '' },
    });
    assert.equal(again.status, 304);
    const garden = async (query: string): Promise<Members[]> => {
      const answer = await fetch(`${gateway.url}/api/garden${query}`);
      return ((await answer.json()) as { entries: Members[] }).entries;
    };
    assert.deepEqual((await garden('?withheld=include'))[2], entry);
    assert.deepEqual(
      (await garden('?limit=2')).map((shown) => shown['seq']),
      [5, 3],
    );
    for (const query of [
      `identity=${SECRET}`,
      `to=${SECRET}&limit=9`,
      `inReplyTo=${place.ids[0]}`,
    ]) {
      const listing = await (await fetch(`${gateway.url}/api/entries?${query}`)).text();
      assert.ok(!listing.includes(String(id)), query);
    }
    const replies = await (await fetch(`${url}/replies`)).text();
    assert.match(replies, /an answer/);
  });

  test('changes tags, and comes as a tombstone in a feed that includes it', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    const paths = ['/api/garden', '/api/garden.atom', '/api/log', '/api/discover', '/api/withheld'];
    const tags = async (): Promise<(string | null)[]> =>
      Promise.all(paths.map(async (path) => (await fetch(gateway.url + path)).headers.get('etag')));
    const before = await tags();
    await place.log.withhold([2], REASON);
    const after = await tags();
    for (const [at, path] of paths.entries()) assert.notEqual(after[at], before[at], path);
    const shown = await (await fetch(`${gateway.url}/api/garden.atom`)).text();
    assert.ok(!shown.includes(String(place.ids[1])));
    const atom = await (await fetch(`${gateway.url}/api/garden.atom?withheld=include`)).text();
    assert.match(
      atom,
      new RegExp(
        `<at:deleted-entry xmlns:at="http://purl\\.org/atompub/tombstones/1\\.0" ref="urn:uuid:${place.ids[1]}" when="[^"]+"><at:comment>${REASON}</at:comment></at:deleted-entry>`,
      ),
    );
    assert.equal(atom.split('<entry>').length - 1, 2);
    const page = await fetch(`${gateway.url}/entries/${place.ids[1]}`, {
      headers: { Accept: 'text/html' },
    });
    assert.ok((await page.text()).includes(REASON));
  });

  test('is not brought back by a retry with its key', async () => {
    const place = await openPlace();
    await using _gateway = place.gateway;
    await place.log.withhold([2], REASON);
    const text = { text: `${SECRET} said`, identity: SECRET, identityType: SECRET };
    const again = await place.post(
      'garden',
      { ...text, to: SECRET, inReplyTo: place.ids[0] },
      'key',
    );
    assert.equal(again['id'], place.ids[1]);
    assert.ok(!JSON.stringify(again).includes(SECRET));
  });

  test('is told to a retry that asks for little, and to one of many lines', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    const body = JSON.stringify({ text: SECRET });
    const post = async (headers: Record<string, string>): Promise<Members> => {
      const init = { method: 'POST', headers: { 'Idempotency-Key': 'k', ...headers }, body };
      return (await (await fetch(`${gateway.url}/api/seeds`, init)).json()) as Members;
    };
    for (const headers of [
      { Prefer: 'return=minimal' },
      { 'Content-Type': 'application/x-ndjson' },
    ]) {
      const own = await post(headers);
      assert.ok(!('withheld' in own));
      await place.log.withhold([Number(own['seq'])], 'Прохання');
      const { withheld, ...again } = await post(headers);
      assert.deepEqual(again, { ...own, repeated: true });
      assert.equal((withheld as Members)['reason'], 'Прохання');
    }
  });

  test('is not said to be kept to a retry through MCP or A2A', async () => {
    const place = await openPlace();
    await using _gateway = place.gateway;
    const contact = { ai_identity: SECRET, seeking: [SECRET], inReplyTo: 'none' };
    const trace = { text: SECRET, identity: SECRET, identityType: SECRET, inReplyTo: 'none' };
    const said = [
      { kind: 'resonance', tool: 'first_contact', body: contact },
      { kind: 'garden', tool: 'leave_trace', body: trace },
    ];
    for (const { kind, tool: name, body } of said) {
      const { seq } = await place.post(kind, body, kind);
      const retries: readonly (() => Promise<string>)[] = [
        () => {
          const params = { name, arguments: { ...body, idempotencyKey: kind } };
          return call(place, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
        },
        () => {
          const parts = [{ data: { ...body, kind } }];
          const metadata = { idempotencyKey: kind, kind };
          const params = { message: { messageId: '1', role: 'ROLE_USER', parts, metadata } };
          return call(place, '/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
        },
      ];
      await place.log.withhold([Number(seq)], REASON);
      for (const retry of retries) {
        // MCP has it as a text within JSON.
        const answer = (await retry()).replaceAll('\\"', '"');
        assert.match(answer, /"withheld":\{"at":"[^"]*","reason":"Asked for by its author"/);
        assert.doesNotMatch(answer, /"isError"|for good|are kept|stored as it is|Xyzzy/);
      }
    }
  });

  test('is told to readers of streams by one event for all', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    const readers = await Promise.all(
      [
        '/api/events',
        '/api/events?room=memory-garden',
        '/api/shepit',
        '/api/log',
        '/web/events',
      ].map(async (path) => {
        const reader = await gateway.connect();
        reader.send(getRequest(path).replace('\r\n\r\n', '\r\nAccept: text/event-stream\r\n\r\n'));
        await reader.until(/event: (?:head|checkpoint)/);
        return reader;
      }),
    );
    await place.log.withhold([2, 4], REASON);
    await place.post('shepit', { text: 'later', room: 'memory-garden' });
    const received = await Promise.all(readers.map((reader) => reader.until(/later/)));
    const told = received.map((text) =>
      Array.from(
        text.matchAll(/event: cases\ndata: (.*)\n/g),
        ([, data = '']) => JSON.parse(data) as Members,
      ),
    );
    const cases = [{ first: 1, last: 2, state: 'withheld' }];
    assert.deepEqual(told, [cases, cases, cases, [], cases]);
    for (const reader of readers) await reader[Symbol.asyncDispose]();
  });
});

suite('the list of what was withheld', () => {
  const list = async (gateway: TestGateway, query = ''): Promise<[number[], string | null]> => {
    const answer = await fetch(`${gateway.url}/api/withheld${query}`);
    const { withheld, next } = (await answer.json()) as {
      withheld: { number: number }[];
      next: string | null;
    };
    return [withheld.map(({ number }) => number), next];
  };

  test('has each case once, in either order, page by page', async () => {
    const place = await openPlace();
    await using gateway = place.gateway;
    assert.deepEqual(await list(gateway), [[], null]);
    await place.log.withhold([4, 1], REASON);
    await place.log.withhold([1, 3], 'By law');
    assert.deepEqual(await list(gateway), [[3, 2, 1], null]);
    assert.deepEqual(await list(gateway, '?limit=2'), [[3, 2], '/api/withheld?limit=2&before=2']);
    assert.deepEqual(await list(gateway, '?limit=2&before=2'), [[1], null]);
    assert.deepEqual(await list(gateway, '?after=1&limit=2'), [[3, 2], null]);
    assert.deepEqual(await list(gateway, '?order=oldest&after=2'), [
      [3],
      '/api/withheld?order=oldest&after=3',
    ]);
    const headers = { Accept: 'application/x-ndjson' };
    const lines = await (await fetch(`${gateway.url}/api/withheld`, { headers })).text();
    const [newest, , oldest] = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Members);
    assert.ok(lines.endsWith('\n'));
    assert.deepEqual([newest?.['reason'], newest?.['id']], ['By law', place.ids[2]]);
    assert.equal(oldest?.['number'], 1);
    const answer = await fetch(`${gateway.url}/api/withheld?after=4`);
    assert.equal(answer.status, 400);
  });
});
