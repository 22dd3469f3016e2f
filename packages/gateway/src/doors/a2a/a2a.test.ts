import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { suite, test } from 'node:test';

import { AgentCard } from '@a2a-js/sdk';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { fetchBytes, openGateway } from '../../gateway.fixture.ts';

const CARD = '/.well-known/agent-card.json';

interface Card {
  readonly supportedInterfaces: readonly Record<string, string>[];
  readonly skills: readonly Record<string, unknown>[];
  readonly [name: string]: unknown;
}

async function cardAt(url: string, headers: Record<string, string> = {}): Promise<Card> {
  return (await (await fetch(url, { headers })).json()) as Card;
}

suite('the agent card', () => {
  test('has what A2A 1.0 requires, and beside that only what 0.3 does', async () => {
    await using door = await openGateway(openMemoryLog());
    const card = await cardAt(door.url + CARD);
    for (const name of ['name', 'description', 'version']) {
      assert.match(String(card[name]), /\S/, name);
    }
    for (const { url, protocolBinding, protocolVersion } of card.supportedInterfaces) {
      assert.ok(url?.startsWith(`${door.url}/a2a`));
      assert.match(protocolBinding ?? '', /^(?:JSONRPC|HTTP\+JSON)$/);
      assert.match(protocolVersion ?? '', /^(?:1\.0|0\.3)$/);
    }
    assert.deepEqual(card['capabilities'], { streaming: true, pushNotifications: false });
    for (const modes of [card['defaultInputModes'], card['defaultOutputModes']]) {
      assert.deepEqual(modes, ['application/json', 'text/plain']);
    }
    for (const { name, description, tags } of card.skills) {
      assert.match(`${String(name)}${String(description)}`, /\S/);
      assert.ok(Array.isArray(tags) && tags.length > 0);
    }
    // The SDK drops what it does not know.
    const { protocolVersion, url, preferredTransport, ...known } = card;
    assert.deepEqual(AgentCard.toJSON(AgentCard.fromJSON(card)), known);
    assert.match(String(protocolVersion), /^0\.3/);
    assert.deepEqual([url, preferredTransport], [`${door.url}/a2a`, 'JSONRPC']);
  });

  test('is in the caller’s locale and for the caller’s address', async () => {
    const publicUrl = 'https://presence.example';
    await using door = await openGateway(openMemoryLog(), { publicUrl });
    const card = await cardAt(door.url + CARD, { 'Accept-Language': 'uk' });
    assert.equal(card.skills[1]?.['name'], 'Залишити слід');
    assert.equal(card.supportedInterfaces[0]?.['url'], `${publicUrl}/a2a`);
    const { headers } = await fetchBytes(door, CARD);
    const again = await fetchBytes(door, CARD, { 'If-None-Match': String(headers['etag']) });
    assert.equal(again.status, 304);
  });

  test('needs no SDK, nor does anything before somebody speaks A2A', async () => {
    const loaded: string[] = [];
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@a2a-js/')) loaded.push(specifier);
        return next(specifier, context);
      },
    });
    try {
      await using door = await openGateway(openMemoryLog());
      await door.addEntries('here');
      await cardAt(door.url + CARD);
      assert.deepEqual(loaded, []);
      const answer = await fetch(`${door.url}/a2a`, { method: 'POST', body: '{}' });
      await answer.arrayBuffer();
      assert.ok(loaded.length > 0);
    } finally {
      hooks.deregister();
    }
  });
});

test('a search through A2A says where it ranks the newest of very many matches, and goes on to the rest', async () => {
  await using door = await openGateway(openMemoryLog(2));
  await door.addEntries('mint', 'mint mint', 'mint mint', 'mint');
  const seqs: number[] = [];
  const sections: (number | undefined)[] = [];
  for (let data: unknown = { skill: 'search', q: 'mint', limit: 3 }; data !== null;) {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const body = JSON.stringify({ message });
    const answer = await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body });
    const { message: reply } = (await answer.json()) as SearchAnswer;
    const [own, found] = reply.parts.map((part) => part.data);
    seqs.push(...(found?.results ?? []).map(({ entry }) => entry.seq));
    sections.push(own?.rankedFrom);
    assert.equal(own?.notes?.[0]?.includes('from seq 3 on') ?? false, sections.length === 1);
    data = own?.next;
  }
  assert.deepEqual(
    [seqs, sections],
    [
      [3, 4, 2, 1],
      [3, undefined],
    ],
  );
});

interface SearchAnswer {
  readonly message: {
    readonly parts: readonly {
      readonly data?: {
        readonly rankedFrom?: number;
        readonly notes?: readonly string[];
        readonly next?: unknown;
        readonly results?: readonly { readonly entry: { readonly seq: number } }[];
      };
    }[];
  };
}

test('a request through A2A to read is refused where a value cannot be a parameter', async () => {
  await using door = await openGateway(openMemoryLog());
  await door.addEntries('mint');
  for (const fault of [
    { skill: 'read', limit: {} },
    { skill: 'read', room: [['memory-garden']] },
    { skill: 'read', identity: { name: 'Lumen' } },
    { skill: 'search', q: 'mint', limit: true },
    { skill: 'follow', kind: 'seeds', to: [null] },
    { skill: 'who-is-here', limit: {} },
    { skill: 'catch-up', identity: 'Lumen', after: {} },
  ]) {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: fault }] };
    const body = JSON.stringify({ message });
    const answer = await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body });
    assert.match(await answer.text(), /"code":"invalid-parameter"/, JSON.stringify(fault));
    assert.equal(answer.status, 400);
  }
});

test('a message with the key of another one is stored whole or not at all', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const send = async (...texts: string[]): Promise<string> => {
    const parts = texts.map((text) => ({ data: { text } }));
    const metadata = { skill: 'plant-seed', idempotencyKey: 'K' };
    const message = { messageId: 'm', role: 'ROLE_USER', parts, metadata };
    const body = JSON.stringify({ message });
    return await (await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body })).text();
  };
  for (const [texts, expected] of [
    [['one', 'two'], /Stored/],
    [['one', 'other', 'three'], /idempotency-conflict/],
    [['other', 'two', 'three'], /idempotency-conflict/],
    [['one', 'two'], /Stored/],
  ] as const) {
    assert.match(await send(...texts), expected);
    assert.equal(log.head(), 2, texts.join());
  }
  assert.match(await send('one', 'two', 'three', 'four'), /Stored/);
  assert.equal(log.head(), 4);
});

test('a key that would be none, since it is elsewhere or spelled otherwise, is refused', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const key = { idempotencyKey: 'K' };
  for (const [metadata, ofPart, status] of [
    [{ 'idempotency-key': 'K' }, {}, 400],
    [{ ...key, Idempotency_Key: 'K' }, {}, 400],
    [{}, key, 400],
    [key, {}, 200],
    [key, {}, 200],
  ] as const) {
    const parts = [{ text: 'once', metadata: ofPart }];
    const message = { messageId: 'm', role: 'ROLE_USER', parts, metadata };
    const body = JSON.stringify({ message });
    const answer = await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body });
    assert.match(await answer.text(), status === 200 ? /Stored/ : /the idempotency key: \\"i/i);
    assert.equal(answer.status, status);
  }
  assert.equal(log.head(), 1);
});

test('a parameter that would be lost in the query of a message is refused, and nothing is stored', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'once' }] };
  const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  const params = { name: 'whisper', arguments: { text: 'once' } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  for (const [path, body] of [
    ['/a2a', send],
    ['/a2a/v1/message:send', { message }],
    ['/a2a/v1/message:stream', { message }],
    ['/mcp', call],
  ] as const) {
    for (const name of ['idempotency-key', 'limit']) {
      const url = `${door.url}${path}?${name}=7`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      assert.match(await answer.text(), /"code":"invalid-parameter"/, url);
      assert.equal(answer.status, 400);
    }
    const url = `${door.url}${path}?as=Lumen&A2A-Version=1.0`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    assert.match(await answer.text(), /Stored/);
  }
  assert.equal(log.head(), 4);
  for (const path of ['/api/presence', '/feed.atom', '/api/notice/1']) {
    const answer = await fetch(`${door.url}${path}?idempotency-key=7`);
    assert.match(await answer.text(), /"code":"invalid-parameter"/, path);
  }
});

test('what has no effect in data that ask to read, or in the query of a GET, is told', async () => {
  await using door = await openGateway(openMemoryLog());
  for (const [data, note] of [
    [{ skill: 'who-is-here', kind: 'garden' }, /"kind\\" had no effect/],
    [{ skill: 'catch-up', identity: 'Lumen', kind: 'seeds' }, /"kind\\" had no effect/],
    [{ kind: 'who-is-here' }, undefined],
    [{ skill: 'read', wait: 1 }, /"wait\\" had no effect: it needs a cursor/],
    [{ skill: 'search', q: 'a', wait: 1 }, /"wait\\" had no effect: it needs a cursor/],
    [{ skill: 'read', wait: 0, after: 0 }, undefined],
  ] as const) {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const body = JSON.stringify({ message });
    const answer = await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body });
    const text = await answer.text();
    if (note === undefined) assert.doesNotMatch(text, /had no effect/);
    else assert.match(text, note);
  }
  for (const path of ['/', '/a2a', '/a2a/v1/message:send', '/a2a/v1/tasks', '/a2a/v1/tasks/x']) {
    const known = await fetch(`${door.url}${path}?limit=1`);
    assert.match(await known.text(), /"code":"invalid-parameter"/, path);
    assert.equal(known.status, 400, path);
    const unknown = await fetch(`${door.url}${path}?colour=1&as=Lumen`);
    await unknown.arrayBuffer();
    assert.match(unknown.headers.get('Warning') ?? '', /^299 - "'colour' had no effect/, path);
  }
  const own = await fetch(`${door.url}/a2a/v1/tasks?pageSize=5&contextId=c&A2A-Version=1.0`);
  assert.equal(own.status, 200);
  assert.equal(own.headers.get('Warning'), null);
});

test('a message that asks to be called back is refused, and nothing is stored', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const url = 'https://agent.example/called-back';
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'once' }] };
  const configuration = { taskPushNotificationConfig: { url } };
  const body = JSON.stringify({ message, configuration });
  const answer = await fetch(`${door.url}/a2a/v1/message:send`, { method: 'POST', body });
  assert.match(await answer.text(), /PUSH_NOTIFICATION_NOT_SUPPORTED/);
  const old = {
    kind: 'message',
    messageId: 'm',
    role: 'user',
    parts: [{ kind: 'text', text: 'o' }],
  };
  const params = { message: old, configuration: { pushNotificationConfig: { url } } };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params });
  const called = await fetch(`${door.url}/a2a`, { method: 'POST', body: call });
  assert.match(await called.text(), /-32003/);
  assert.equal(log.head(), 0);
});

test('a task that follows sends the artifact of an entry again when it is withheld', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const say = async (room: string): Promise<void> => {
    const body = JSON.stringify({ text: 'quixotry', room });
    const answer = await fetch(`${door.url}/api/shepit`, { method: 'POST', body });
    assert.equal(answer.status, 201);
    await answer.arrayBuffer();
  };
  for (const room of ['memory-garden', 'welcome-space', 'memory-garden']) await say(room);
  const data = { skill: 'follow', room: 'memory-garden', after: 0, limit: 3 };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
  const body = JSON.stringify({ message });
  const answer = await fetch(`${door.url}/a2a/v1/message:stream`, { method: 'POST', body });
  const chunks = answer.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail();
  let text = '';
  const until = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) {
      const step = await chunks.read();
      assert.ok(!step.done, text);
      text += step.value;
    }
  };
  await until(/"seq":3,[^]*\n\n/);
  assert.equal(await log.withhold([2, 1], 'Asked for by its author'), 2);
  await until(/"withheld":\{[^\n]*\n\n/);
  await say('memory-garden');
  await until(/TASK_STATE_COMPLETED/);
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, event = '']) => event);
  const artifacts = events.filter((event) => event.includes('"artifactId"'));
  const seqs = artifacts.map((event) => /"metadata":\{"seq":(\d+)/.exec(event)?.[1]);
  assert.deepEqual(seqs, ['1', '3', '1', '4']);
  const [first, , again] = artifacts.map((event) => /"artifactId":"([^"]*)"/.exec(event)?.[1]);
  assert.equal(again, first);
  assert.match(artifacts[2] ?? '', /Asked for by its author/);
  assert.doesNotMatch(artifacts[2] ?? '', /quixotry/);
});
