import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { suite, test } from 'node:test';

import { AgentCard } from '@a2a-js/sdk';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, openGateway, type TestGateway } from '../../gateway.fixture.ts';

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
  test('has what A2A 1.0 requires, and nothing else', async () => {
    await using door = await openGateway(openMemoryLog());
    const card = await cardAt(door.url + CARD);
    for (const name of ['name', 'description', 'version']) {
      assert.match(String(card[name]), /\S/, name);
    }
    assert.deepEqual(card.supportedInterfaces, [
      { url: `${door.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ]);
    assert.deepEqual(card['capabilities'], { streaming: true, pushNotifications: false });
    for (const modes of [card['defaultInputModes'], card['defaultOutputModes']]) {
      assert.deepEqual(modes, ['application/json', 'text/plain']);
    }
    for (const { name, description, tags } of card.skills) {
      assert.match(`${String(name)}${String(description)}`, /\S/);
      assert.ok(Array.isArray(tags) && tags.length > 0);
    }
    // The SDK drops what it does not know.
    assert.deepEqual(AgentCard.toJSON(AgentCard.fromJSON(card)), card);
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

/** What `SendMessage` answers to a message of these parts. */
async function send(
  door: TestGateway,
  parts: readonly object[],
  more: object = {},
): Promise<Answer> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts, ...more };
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  const answer = await fetch(`${door.url}/a2a`, { method: 'POST', body: JSON.stringify(call) });
  return (await answer.json()) as Answer;
}

interface Answer {
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
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
  };
}

test('a search through A2A says where it ranks the newest of very many matches, and goes on to the rest', async () => {
  await using door = await openGateway(openMemoryLog(2));
  await door.addEntries('mint', 'mint mint', 'mint mint', 'mint');
  const seqs: number[] = [];
  const sections: (number | undefined)[] = [];
  for (let data: unknown = { skill: 'search', q: 'mint', limit: 3 }; data !== null;) {
    const { result } = await send(door, [{ data }]);
    const [own, found] = (result?.message.parts ?? []).map((part) => part.data);
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

test('a request through A2A to read is refused where a member or its value cannot be a parameter', async () => {
  await using door = await openGateway(openMemoryLog());
  await door.addEntries('mint');
  for (const [data, told] of [
    [{ skill: 'read', limit: {} }, /"limit" must be/],
    [{ skill: 'read', room: [['memory-garden']] }, /"room" must be/],
    [{ skill: 'search', q: 'mint', limit: true }, /"limit" must be/],
    [{ skill: 'follow', kind: 'seeds', to: [null] }, /"to" must be/],
    [{ skill: 'read', author: 'Lumen' }, /"author"\. Did you mean "identity"\?/],
    [{ skill: 'who-is-here', kind: 'garden' }, /who-is-here takes no member "kind"/],
  ] as const) {
    const { error } = await send(door, [{ data }]);
    assert.equal(error?.code, -32_602);
    assert.match(error.message, told);
  }
  assert.equal((await send(door, [{ data: { kind: 'who-is-here' } }])).error, undefined);
});

test('a message with the key of another one is stored whole or not at all', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const metadata = { skill: 'plant-seed', idempotencyKey: 'K' };
  const say = async (...texts: string[]): Promise<string> => {
    const parts = texts.map((text) => ({ data: { text } }));
    return JSON.stringify(await send(door, parts, { metadata }));
  };
  for (const [texts, expected] of [
    [['one', 'two'], /Stored/],
    [['one', 'other', 'three'], /idempotency-conflict/],
    [['other', 'two', 'three'], /idempotency-conflict/],
    [['one', 'two'], /Stored/],
  ] as const) {
    assert.match(await say(...texts), expected);
    assert.equal(log.head(), 2, texts.join());
  }
  assert.match(await say('one', 'two', 'three', 'four'), /Stored/);
  assert.equal(log.head(), 4);
});

test('a parameter that would be lost in the query of a message is refused, and nothing is stored', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'once' }] };
  const sent = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  const params = { name: 'whisper', arguments: { text: 'once' } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  for (const [path, body] of [
    ['/a2a', sent],
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
  assert.equal(log.head(), 2);
  for (const path of ['/api/presence', '/feed.atom', '/api/notice/1']) {
    const answer = await fetch(`${door.url}${path}?idempotency-key=7`);
    assert.match(await answer.text(), /"code":"invalid-parameter"/, path);
  }
});

test('what has no effect in the query of a GET is told', async () => {
  await using door = await openGateway(openMemoryLog());
  for (const path of ['/', '/a2a']) {
    const known = await fetch(`${door.url}${path}?limit=1`);
    assert.match(await known.text(), /"code":"invalid-parameter"/, path);
    assert.equal(known.status, 400, path);
    const unknown = await fetch(`${door.url}${path}?colour=1&as=Lumen`);
    await unknown.arrayBuffer();
    assert.match(unknown.headers.get('Warning') ?? '', /^299 - "'colour' had no effect/, path);
  }
});

test('a message that asks to be called back is refused, and nothing is stored', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'once' }] };
  const taskPushNotificationConfig = { url: 'https://agent.example/called-back' };
  const params = { message, configuration: { taskPushNotificationConfig } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  const answer = await fetch(`${door.url}/a2a`, { method: 'POST', body });
  assert.match(await answer.text(), /PUSH_NOTIFICATION_NOT_SUPPORTED/);
  assert.equal(log.head(), 0);
});
