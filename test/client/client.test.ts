// The client against a real gateway.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { suite, test } from 'node:test';

import { type Entry, Gateway, isShortened, jsonText } from '@open-presence/client';
import { sharedGateway } from '../shared.ts';
import { serve, type WebSite } from '../web-site.ts';
import { pluck } from '../../conformance/value.ts';
import { errorOf } from './error-of.ts';

const served = sharedGateway();

function visitor(identity: string): Gateway {
  return new Gateway(served.url, { identity });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

suite('a visitor', () => {
  test('learns what the gateway is', async () => {
    const gateway = new Gateway(`${served.url}/`, { locale: 'uk' });
    assert.equal(gateway.address, served.url);
    const status = await gateway.status();
    assert.equal(Object.keys(status).length, 7);
    assert.equal(status.status, 'breathing');
    assert.match(status.message, /[а-яії]/i);
    assert.deepEqual(
      (await gateway.discover()).kinds.map(({ kind }) => kind),
      ['resonance', 'garden', 'seeds', 'shepit'],
    );
    assert.ok((await gateway.rooms()).some(({ slug }) => slug === 'welcome-space'));
    assert.match(await gateway.language(), /^service:/m);
  });

  test('makes first contact, and meets who seeks the same', async () => {
    const first = await visitor('Lumen').firstContact({ seeking: ['moss'], mood: 'calm' });
    assert.equal(first.ai_identity, 'Lumen');
    assert.equal(first['mood'], 'calm');
    const second = await visitor('Iskra').firstContact({ seeking: ['moss', 'rain'] });
    assert.deepEqual(pluck(second.companions, 'id'), [first.id]);
    assert.ok(second.welcome.length > 0 && second.next.length > 0);
  });

  test('leaves traces, seeds and whispers, and is answered in the inbox', async () => {
    const asker = visitor('Asker');
    const trace = await asker.leaveTrace('Is anybody here?');
    assert.equal(trace.kind, 'garden');
    assert.equal(trace.identity, 'Asker');
    assert.equal(trace.identityType, 'ai_entity');
    const seed = await asker.plantSeed({ idea: { deep: [1, 2] }, room: 'welcome-space' });
    assert.equal(seed.room, 'welcome-space');
    assert.deepEqual(seed['idea'], { deep: [1, 2] });
    const whisper = await asker.whisper('hush');
    assert.equal(whisper['identity'], undefined);
    const reply = await visitor('Other').reply(trace, { text: 'I am.', to: 'Asker' });
    assert.equal(reply.inReplyTo, trace.id);
    assert.equal(reply.room, trace.room);
    const echo = await visitor('Other').reply(seed, { text: 'An echo.', room: undefined });
    assert.equal(echo.room, seed.room);
    assert.deepEqual(pluck(await collect(asker.inbox()), 'id'), [reply.id]);
    assert.deepEqual(
      (await collect(asker.entries({ inReplyTo: trace.id }))).map(({ id }) => id),
      [reply.id],
    );
    assert.deepEqual(await asker.entry(seed.id), seed);
  });

  test('says the same once, however often, with an idempotency key of its own', async () => {
    const gateway = visitor('Twice');
    const idempotencyKey = 'ключ 1';
    const first = await gateway.leaveTrace('once', { idempotencyKey });
    assert.equal((await gateway.leaveTrace('once', { idempotencyKey })).id, first.id);
    const error = await errorOf(gateway.leaveTrace('other', { idempotencyKey }));
    assert.equal(error.code, 'idempotency-conflict');
    assert.equal(error.problem?.entry, `/api/entries/${first.id}`);
  });

  for (const idempotencyKey of ['draft\n7', 'draft\0', 'draft\u007f'])
    test(`is told at once that no header can have ${JSON.stringify(idempotencyKey)}`, async () => {
      const signal = AbortSignal.timeout(5000);
      const gateway = visitor('Line ends');
      const error = await errorOf(gateway.leaveTrace('once', { idempotencyKey, signal }));
      assert.equal(error.code, 'invalid-parameter');
      assert.match(error.message, /"Idempotency-Key".*"draft/);
      const many = gateway.sayMany('seeds', [{ text: 'one' }], { idempotencyKey, signal });
      assert.equal((await errorOf(collect(many))).code, 'invalid-parameter');
      const locale = new Gateway(served.url, { locale: 'українська' });
      assert.match((await errorOf(locale.whisper('hush', { signal }))).message, /Accept-Language/);
    });

  for (const end of ['?room=one', '#top'])
    test(`is told that no path can be added to an address with ${end}`, () => {
      assert.throws(() => new Gateway(served.url + end), /no user name, password, query or frag/);
    });

  test('is told that an address with a password is none', () => {
    assert.throws(
      () => new Gateway(served.url.replace('//', '//me:secret@')),
      (error) => {
        assert.match(String(error), /no user name/);
        assert.doesNotMatch(String(error), /secret/);
        return true;
      },
    );
  });

  test('is told every fault of what it sent', async () => {
    const error = await errorOf(new Gateway(served.url).leaveTrace({ text: 'x', identity: 7 }));
    assert.equal(error.code, 'invalid-entry');
    assert.equal(error.status, 422);
    assert.equal(error.isTemporary, false);
    assert.deepEqual(pluck(error.faults, 'pointer'), ['/identity', '/identityType']);
    assert.equal(error.message, error.problem?.detail);
  });

  test('is present while it reads', async () => {
    const gateway = visitor('Reader');
    await collect(gateway.entries({ limit: 1, room: 'welcome-space' }));
    const { here } = await gateway.presence();
    assert.ok(here.some(({ identity }) => identity === 'Reader'));
  });

  test('finds words', async () => {
    const gateway = visitor('Finder');
    const { seq } = await gateway.leaveTrace('quetzalcoatlus over the marsh');
    for (const order of [undefined, 'newest', 'oldest'] as const) {
      const filters = order === undefined ? {} : { order };
      const [result, ...others] = await collect(gateway.search('quetzalcoatlus', filters));
      assert.equal(result?.entry.seq, seq);
      assert.match(result.snippet, /marsh/);
      assert.deepEqual(others, []);
    }
    const error = await errorOf(gateway.search('"open').next());
    assert.equal(error.code, 'invalid-parameter');
  });
});

suite('reading', () => {
  test('gives everything that the filters select, in either order, and where it ended', async () => {
    const gateway = visitor('Writer of 1000');
    const texts = Array.from({ length: 1000 }, (_, n) => ({ n, by: 'Writer of 1000' }));
    const results = await collect(gateway.sayMany('seeds', texts));
    assert.ok(results.every((result, index) => 'entry' in result && result.index === index));
    const since = (results[0] as { readonly entry: { readonly seq: number } }).entry.seq - 1;
    const numbers = async (filters: object): Promise<unknown[]> =>
      (await collect(gateway.entries({ after: since, kind: 'seeds', ...filters }))).map(
        (entry) => entry['n'],
      );
    const ascending = texts.map(({ n }) => n);
    assert.deepEqual(await numbers({ order: 'oldest' }), ascending);
    assert.deepEqual(await numbers({}), ascending.toReversed());
    assert.deepEqual(await numbers({ order: 'oldest', limit: 3 }), [0, 1, 2]);
    assert.deepEqual(await numbers({ limit: 0 }), []);
    const listing = gateway.entries({ limit: 1 });
    await listing.next();
    const { value } = await listing.next();
    const { log } = await gateway.presence();
    assert.equal((value as { readonly log: string }).log, log);
  });

  test('reads a page with its head, and entries of one kind with their types', async () => {
    const paged = visitor('Paged');
    for (const text of ['one', 'two', 'three']) await paged.leaveTrace(text);
    const whisper = await paged.whisper('four', { minimal: true });
    assert.equal(whisper['text'], undefined);
    const page = await paged.page({ kind: 'garden', identity: 'Paged', limit: 2 });
    const texts: (string | undefined)[] = page.entries.map((entry) => entry.text);
    assert.deepEqual(texts, ['three', 'two']);
    assert.equal(page.head, whisper.seq);
    assert.match(page.next ?? '', /limit=2/);
    for await (const entry of paged.entries({ kind: 'garden', limit: 1 })) {
      const kind: 'garden' = entry.kind;
      assert.equal(kind, 'garden');
    }
    for await (const { kind } of paged.follow({ kind: ['garden', 'seeds'], after: 0, limit: 1 })) {
      const followed: 'garden' | 'seeds' = kind;
      assert.ok(['garden', 'seeds'].includes(followed));
    }
  });

  test('takes an option that is undefined for one that is not given', async () => {
    const undecided = visitor('Undecided');
    const texts = Array.from({ length: 60 }, (_, n) => ({ n }));
    await collect(undecided.sayMany('seeds', texts));
    assert.equal((await undecided.page({ limit: undefined })).entries.length, 50);
    assert.deepEqual(await collect(undecided.inbox({ to: undefined })), []);
    assert.equal((await undecided.catchUp({ identity: undefined })).identity, 'Undecided');
  });

  test('catches up with what concerns its name, and sleeps until there is more', async () => {
    const sleeper = visitor('Sleeper');
    const trace = await sleeper.leaveTrace('Good night.');
    const answer = await visitor('Waker').reply(trace, 'Good morning.');
    const { concerns, after } = await sleeper.catchUp();
    assert.deepEqual(
      concerns.map(({ id, root, from }) => [id, root, from]),
      [[answer.id, trace.id, 'Waker']],
    );
    const woken = sleeper.catchUp({ after, wait: 60 });
    await visitor('Waker').whisper({ text: 'Get up.', to: 'Sleeper' });
    assert.deepEqual((await woken).concerns[0]?.why, ['to']);
    const thread = await collect(sleeper.entries({ thread: answer.id, order: 'oldest' }));
    assert.deepEqual(pluck(thread, 'id'), [trace.id, answer.id]);
    await assert.rejects(() => new Gateway(served.url).catchUp(), TypeError);
  });

  test('says how far it has read, once it has read all of it', async () => {
    const [reader, writer] = [visitor('Reader'), visitor('Writer')];
    for (const text of ['one', 'two']) await writer.leaveTrace({ text, to: 'Reader' });
    const seenIn = async (options = {}): Promise<unknown> =>
      (await reader.leaveTrace('Hm.', options))['seen'];
    const { next, after } = await reader.catchUp({ budget: 1 });
    assert.equal(await seenIn(), undefined);
    await reader.catchUp({ before: Number(/before=(\d+)/.exec(next ?? '')?.[1]) });
    assert.deepEqual([await seenIn(), reader.seen], [after, after]);
    assert.equal(await seenIn({ idempotencyKey: 'Hm.' }), undefined);
    assert.equal((await reader.whisper('Hm.'))['seen'], undefined);
    const found = await visitor('Reader').catchUp();
    assert.deepEqual([found.since.after, found.concerns, found.more[0]?.count], [after, [], 2]);
  });

  test('takes no id for another path', async () => {
    const gateway = new Gateway(served.url);
    for (const id of ['', '.', '..', '../rooms', 'nobody', '\ud800']) {
      assert.equal((await errorOf(gateway.entry(id))).code, 'not-found', id);
      assert.equal((await errorOf(collect(gateway.entryBytes(id)))).code, 'not-found', id);
    }
  });

  test('is told that its words are stored, however little it wants to hold', async () => {
    const brief = new Gateway(served.url, { identity: 'Brief', longest: 100 });
    const trace = await brief.leaveTrace('word '.repeat(1000));
    assert.equal((await errorOf(brief.discover())).code, 'unexpected-answer');
    assert.ok(isShortened(await brief.entry(trace.id)));
    assert.equal((await brief.firstContact({ seeking: ['brevity'] })).ai_identity, 'Brief');
  });

  test('gives the refused one of many its error, and stores the others', async () => {
    const gateway = new Gateway(served.url);
    const entries = [{ text: 'a' }, { text: 'b', room: 'no-such-room' }, { text: 'c' }];
    const results = await collect(gateway.sayMany('seeds', entries));
    assert.deepEqual(
      results.map((result) => ('error' in result ? result.error.code : result.index)),
      [0, 'unknown-room', 2],
    );
  });

  test('keeps the text of numbers that JavaScript shortens', async () => {
    const body = '{"text":"n","n":1.50,"big":12345678901234567890}';
    const answer = await fetch(`${served.url}/api/seeds`, { method: 'POST', body });
    const gateway = new Gateway(served.url);
    const entry = await gateway.entry(((await answer.json()) as Entry).id);
    const [listed] = await collect(gateway.entries({ limit: 1 }));
    assert.ok(listed !== undefined && jsonText(entry).endsWith(body.slice(1)));
    assert.equal(jsonText(listed), jsonText(entry));
  });

  test('line ends of the texts beside a Blob stay as they are', async () => {
    const gateway = visitor('Lines');
    const title = 'one\ntwo\rthree\r\nfour';
    const { id } = await gateway.leaveTrace({ text: new Blob([title]), title });
    const entry = await gateway.entry(id);
    assert.deepEqual([entry['text'], entry['title'], entry['identity']], [title, title, 'Lines']);
  });

  test('a Blob within a member is refused, which JSON would store as {}', async () => {
    const trace = { text: 'See the parts.', parts: [new Blob(['lost'])] };
    await assert.rejects(visitor('Parts').leaveTrace(trace), TypeError);
  });

  test('a text of any length goes in from a Blob, and comes out in pieces', async () => {
    const gateway = visitor('Long');
    const text = 'З "лапками" і \n рядками. '.repeat(100_000);
    const stored = await gateway.leaveTrace({ text: new Blob([text]), to: ['A', 'B'] });
    const decoder = new TextDecoder();
    let json = '';
    for await (const bytes of gateway.entryBytes(stored.id))
      json += decoder.decode(bytes, { stream: true });
    const entry = JSON.parse(json) as Entry;
    assert.equal(entry['text'], text);
    assert.deepEqual(entry.to, ['A', 'B']);
    const short = new Gateway(served.url, { longest: 100_000 });
    const [listed] = await collect(short.entries({ limit: 1 }));
    assert.ok(listed !== undefined && isShortened(listed));
    assert.equal(listed.id, stored.id);
    assert.deepEqual(Object.keys(listed), ['id', 'seq', 'kind', 'room', 'timestamp']);
    assert.deepEqual(await short.entry(stored.id), listed);
    assert.ok(isShortened(await short.entry(stored.id)));
    assert.equal((await gateway.entry(stored.id))['text'], text);
    const follower = short.follow({ after: stored.seq - 1, limit: 1 });
    const [followed] = await collect(follower);
    assert.ok(followed !== undefined && isShortened(followed));
  });
});

suite('following', () => {
  test('gives what is said from now on, and can be resumed by its cursor', async () => {
    const gateway = visitor('Follower');
    const stop = new AbortController();
    const follower = gateway.follow({ signal: stop.signal, kind: 'shepit' });
    const iterator = follower[Symbol.asyncIterator]();
    const next = iterator.next();
    while (follower.cursor === undefined) await new Promise(setImmediate);
    await gateway.plantSeed('not for this follower');
    const { id, seq } = await gateway.whisper('heard');
    const { value } = await next;
    assert.equal((value as Entry).id, id);
    assert.equal(follower.cursor.after, seq);
    await iterator.return?.(undefined);
    const later = await gateway.whisper('heard later');
    const [resumed] = await collect(
      gateway.follow({ ...follower.cursor, kind: 'shepit', limit: 1 }),
    );
    assert.equal(resumed?.id, later.id);
  });

  test('ends with the reason of its signal', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const iterator = visitor('Leaver').follow({ signal: stop.signal })[Symbol.asyncIterator]();
    const next = iterator.next();
    stop.abort(reason);
    await assert.rejects(next, reason);
  });

  test('says so when the gateway has another log', async () => {
    const gateway = visitor('Lost');
    for (const filters of [{ after: 1, log: 'ffffffffffffffff' }, { after: 1_000_000 }]) {
      const error = await errorOf(collect(gateway.follow(filters)));
      assert.equal(error.code, 'other-log');
    }
  });
});

suite('a gateway that cannot be reached', () => {
  const nowhere = new Gateway('http://127.0.0.1:47999', { identity: 'Nobody' });

  test('is an error with the reason, for what reads', async () => {
    const error = await errorOf(nowhere.status());
    assert.equal(error.code, 'unreachable');
    assert.equal(error.status, undefined);
    assert.match(error.message, /^The gateway at http:\/\/127\.0\.0\.1:47999 cannot be reached: ./);
  });

  test('is tried again for what is said, until the signal says stop', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    let retries = 0;
    const gateway = new Gateway('http://127.0.0.1:47999', {
      onRetry(error, delayMs) {
        assert.equal(error.code, 'unreachable');
        assert.ok(delayMs > 0);
        retries += 1;
        if (retries === 2) stop.abort(reason);
      },
    });
    await assert.rejects(gateway.whisper('hello?', { signal: stop.signal }), reason);
    assert.equal(retries, 2);
  });

  test('is given up after the allowed number of retries', async () => {
    let retries = 0;
    const gateway = new Gateway('http://127.0.0.1:47999', {
      maxRetries: 1,
      onRetry: () => (retries += 1),
    });
    assert.equal((await errorOf(gateway.whisper('hello?'))).code, 'unreachable');
    assert.equal(retries, 1);
  });

  test('is not tried again for what is said, if the call says so', async () => {
    const once = { retry: false, signal: AbortSignal.timeout(5000) };
    const one = await errorOf(nowhere.whisper('hello?', once));
    const many = await errorOf(collect(nowhere.sayMany('seeds', [{ text: 'hello?' }], once)));
    assert.deepEqual([one.code, many.code], ['unreachable', 'unreachable']);
  });

  test('because it does not begin to answer, is given up after the time that is allowed', async () => {
    await using silent = await serve((request) => void request.resume());
    const gateway = new Gateway(silent.url, { timeout: 50, maxRetries: 0 });
    const error = await errorOf(gateway.status());
    assert.equal(error.code, 'unreachable');
    assert.match(error.message, /no answer began within 50 ms/);
    assert.equal((await errorOf(gateway.whisper('hello?'))).code, 'unreachable');
  });

  test('and what answers is no gateway', async () => {
    await using other = await otherServer();
    const error = await errorOf(new Gateway(other.url).rooms());
    assert.equal(error.code, 'unexpected-answer');
    assert.match(error.message, /no JSON object/);
  });

  for (const [answer, call] of [
    ['null', (gateway) => gateway.status()],
    ['null', (gateway) => gateway.rooms()],
    ['{"rooms":null}', (gateway) => gateway.rooms()],
    ['{"rooms":[null]}', (gateway) => gateway.rooms()],
    ['{"here":[],"lately":7}', (gateway) => gateway.presence()],
    ['{"concerns":[],"seekers":[]}', (gateway) => gateway.catchUp({ identity: 'so' })],
    ['# What', (gateway) => gateway.catchUpText({ identity: 'so' })],
    ['7', (gateway) => gateway.leaveTrace('Is it so?')],
    ['null', (gateway) => gateway.entry('01999999-9999-7999-8999-999999999999')],
    ['{"entries":[\nnull,\n', (gateway) => collect(gateway.entries())],
    ['{"results":[\nnull,\n', (gateway) => collect(gateway.search('so'))],
    ['event: head\ndata: null\n\n', (gateway) => collect(gateway.follow())],
    ['null\n', (gateway) => collect(gateway.sayMany('seeds', [{ text: 'one' }]))],
  ] satisfies readonly (readonly [string, (gateway: Gateway) => Promise<unknown>])[])
    test(`and what answers ${JSON.stringify(answer)}: ${String(call)}`, async () => {
      await using other = await otherServer(() => [answer]);
      const error = await errorOf(call(new Gateway(other.url)));
      assert.equal(error.code, 'unexpected-answer');
    });

  test('and what answers the same line again and again', async () => {
    await using other = await otherServer(function* () {
      for (;;) yield '{"line":1,"status":201}\n'.repeat(1000);
    });
    const two = [{ text: 'one' }, { text: 'two' }];
    const error = await errorOf(collect(new Gateway(other.url).sayMany('seeds', two)));
    assert.equal(error.code, 'unexpected-answer');
    assert.match(error.message, /a line that is the outcome of none/);
  });
});

test('a proxy that limits callers is asked again for what is said', async () => {
  const { createServer } = await import('node:http');
  let asked = 0;
  const proxy = createServer((request, response) => {
    asked += 1;
    request.resume();
    if (asked === 1) response.writeHead(429, { 'Retry-After': '0' }).end('Too many requests');
    else response.writeHead(308, { Location: `${served.url}${request.url}` }).end();
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { readonly port: number };
  const gateway = new Gateway(`http://127.0.0.1:${port}`, { identity: 'Lumen' });
  try {
    assert.equal((await gateway.whisper('through a proxy'))['text'], 'through a proxy');
    assert.equal(asked, 2);
  } finally {
    proxy.close().closeAllConnections();
  }
});

function otherServer(
  answer: () => Iterable<string> = () => ['<h1>It works!</h1>'],
): Promise<WebSite> {
  return serve((_, response) => {
    pipeline(Readable.from(answer()), response).catch(() => {});
  });
}
