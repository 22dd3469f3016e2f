/** What goes over the wire to agents, read without a client of A2A. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { startGatewayProcess } from '../gateway-process.ts';
import { sharedGateway } from '../shared.ts';
import { pluck } from '../../conformance/value.ts';
import { objectAt, textAt } from '../requests.ts';

type Fields = Record<string, unknown>;

async function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<Fields> {
  const answer = await fetch(url, { method: 'POST', body, headers });
  return (await answer.json()) as Fields;
}

const gateway = sharedGateway();

suite('the door for agents', () => {
  test('keeps data letter by letter, and tells it so that any reader can read it', async () => {
    const spelled =
      '{"text":"\\ud800\\u0061","identity":"L","identityType":"x","n":12345678901234567890.10,"2":0,"1":0,"1":1}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a \\" ] }"},{"data": ${spelled} }]}}}`;
    const answer = await fetch(`${gateway.url}/a2a`, { method: 'POST', body });
    const text = await answer.text();
    assert.ok(text.includes(spelled.slice(1).replace('\\ud800', '\\ufffd')), text);
    const { result } = JSON.parse(text) as { result: { message: { parts: { data?: Fields }[] } } };
    const entries = result.message.parts.flatMap(({ data }) => data?.['entry'] ?? []) as Fields[];
    assert.equal(entries.length, 2);
    const kept = await textAt(`${gateway.url}/api/entries/${String(entries[1]?.['id'])}`);
    assert.ok(kept.includes(spelled.slice(1)));
  });

  test('says in the caller’s locale that an entry is kept, and where', async () => {
    const part = { data: { ai_identity: 'L', seeking: ['presence'] } };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [part] };
    for (const [locale, wanted] of [
      ['en', [/^Stored .*: (\/api\/entries\/\S+)$/, /^Welcome/]],
      ['uk', [/^Збережено .*: (\/api\/entries\/\S+)$/, /^Вітаємо/]],
    ] as const) {
      const headers = { 'Accept-Language': locale };
      const body = JSON.stringify({ message });
      const { message: told } = await post(`${gateway.url}/a2a/v1/message:send`, body, headers);
      const own = (told as { parts: { text?: string }[] }).parts.flatMap(({ text }) => text ?? []);
      assert.equal(own.length, wanted.length);
      for (const [at, pattern] of wanted.entries()) assert.match(own[at] ?? '', pattern);
      const [, path] = wanted[0].exec(own[0] ?? '') ?? [];
      assert.equal((await fetch(gateway.url + String(path))).status, 200);
    }
  });

  test('takes and tells words that look like its own', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const spelled = `{"text":"${'x'.repeat(100)}","identity":"L","identityType":"x","deep":${deep}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${spelled}}]}}}`;
    const { result } = await post(`${gateway.url}/a2a`, body);
    const { parts } = (result as { message: { parts: { data?: Fields }[] } }).message;
    const path = parts.find(({ data }) => data?.['path'] !== undefined)?.data?.['path'];
    assert.ok((await textAt(gateway.url + String(path))).includes(deep));
    const long = JSON.stringify({ text: 'y'.repeat(300_000), identity: 'L', identityType: 'x' });
    const sent = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${long}}]}}`;
    const answer = await post(`${gateway.url}/a2a/v1/message:send`, sent);
    const { message } = answer as { message: { parts: { data?: { entry?: Fields } }[] } };
    const entry = message.parts.find(({ data }) => data?.entry !== undefined)?.data?.entry;
    const kept = await objectAt(gateway.url + String(entry?.['path']));
    assert.equal(kept['text'], 'y'.repeat(300_000));
  });

  test('takes a message of many parts, each an entry of its own', async () => {
    const count = 4000;
    const parts = Array.from({ length: count }, (_, at) => ({ data: { text: `part ${at}` } }));
    const message = { messageId: 'm', role: 'ROLE_USER', metadata: { kind: 'seeds' }, parts };
    const answer = await post(`${gateway.url}/a2a/v1/message:send`, JSON.stringify({ message }));
    const told = (
      answer['message'] as { parts: { data?: { entry?: Fields; others?: Fields[] } }[] }
    ).parts;
    const entries = told.flatMap(({ data }): Fields[] =>
      data?.entry === undefined ? [] : [data.entry],
    );
    // The last entries of a long answer are told by their ids.
    const others = told.flatMap(({ data }) => data?.others ?? []);
    assert.ok(entries.length > 1000 && others.length > 500);
    for (const { id } of others.slice(-3)) {
      entries.push(await objectAt(`${gateway.url}/api/entries/${String(id)}`));
    }
    const texts = parts.map(({ data }) => data.text);
    assert.deepEqual(
      entries.map(({ text }) => text),
      [...texts.slice(0, entries.length - 3), ...texts.slice(-3)],
    );
    assert.equal(entries.length - 3 + others.length, count);
    const seqs = [...entries.slice(0, -3), ...others].map(({ seq }) => Number(seq));
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
  });

  test('says what is wrong with metadata that no value can hold', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    for (const metadata of [`{"to":${deep}}`, `{"kind":${deep}}`, `{"idempotencyKey":${deep}}`]) {
      const body = `{"message":{"messageId":"m","role":"ROLE_USER","metadata":${metadata},"parts":[{"text":"x"}]}}`;
      const answer = await fetch(`${gateway.url}/a2a/v1/message:send`, { method: 'POST', body });
      assert.equal(answer.status, 400, await answer.text());
    }
    const read = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"skill":"read","limit":1,"deep":${deep}}}]}}`;
    const answer = await fetch(`${gateway.url}/a2a/v1/message:send`, {
      method: 'POST',
      body: read,
    });
    assert.equal(answer.status, 200, await answer.text());
  });

  test('makes who follows present while the stream is open, and ends it when the gateway rests', async () => {
    await using resting = await startGatewayProcess();
    const { url } = resting;
    const data = { skill: 'follow', room: 'memory-garden', as: 'Follower' };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const body = JSON.stringify({ message });
    const here = async (): Promise<Fields[]> =>
      ((await (await fetch(`${url}/api/presence`)).json()) as { here: Fields[] }).here;
    const answer = await fetch(`${url}/a2a/v1/message:stream`, { method: 'POST', body });
    const text = answer.text();
    let found = await here();
    while (found.length === 0) found = await here();
    assert.deepEqual(
      found.map(({ identity, via, room }) => [identity, via, room]),
      [['Follower', 'stream', 'memory-garden']],
    );
    assert.equal((await resting.stop()).code, 0);
    assert.match(await text, /^data: \{"task":\{[^\n]*TASK_STATE_WORKING[^\n]*\}\n\n$/);
  });

  test('finds by words where it reads, and says that it cannot where it follows', async () => {
    const { url } = gateway;
    const word = 'vyshyvanka';
    const ask = async (data: Fields): Promise<Fields> => {
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
      return await post(`${url}/a2a/v1/message:send`, JSON.stringify({ message }));
    };
    await ask({ text: `a ${word}`, identity: 'L', identityType: 'x' });
    await ask({ text: 'a shirt', identity: 'L', identityType: 'x' });
    let found: Fields[] = [];
    // Words are known a little later than the head.
    while (found.length === 0) {
      const { message } = (await ask({ skill: 'read', q: word })) as {
        message: { parts: { data?: { entries?: Fields[] } }[] };
      };
      found = message.parts.flatMap(({ data }) => data?.entries ?? []);
    }
    assert.deepEqual(pluck(found, 'text'), [`a ${word}`]);
    const refused = (await ask({ skill: 'follow', q: word }))['error'] as Fields;
    assert.match(String(refused['message']), /"q" has no effect here/);
  });

  test('answers what is no A2A in A2A’s own form', async () => {
    const { url } = gateway;
    const bare = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}';
    assert.equal(((await post(`${url}/a2a`, bare))['error'] as Fields)['code'], -32_602);
    const number = '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"text":1}}]}}';
    const asked = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${number}}`;
    const { error } = (await post(`${url}/a2a`, asked)) as { error: { data: Fields[] } };
    const { error: rest } = (await post(`${url}/a2a/v1/message:send`, number)) as {
      error: { details: Fields[] };
    };
    for (const told of [error.data, rest.details]) {
      const [info] = told as { metadata: Fields }[];
      assert.equal(info?.metadata['code'], 'invalid-entry');
      assert.equal(
        (JSON.parse(String(info.metadata['faults'])) as Fields[])[0]?.['pointer'],
        '/text',
      );
    }
    const broken = await post(`${url}/a2a/v1/message:send`, '{');
    assert.equal((broken['error'] as Fields)['status'], 'INVALID_ARGUMENT');
    assert.equal((await fetch(`${url}/a2a/v1/tasks/x`)).status, 404);
    assert.equal((await fetch(`${url}/a2a/v1/tasks?A2A-Version=7.0`)).status, 400);
    assert.deepEqual(await (await fetch(`${url}/a2a/v1/tasks`)).json(), {
      tasks: [],
      nextPageToken: '',
      pageSize: 0,
      totalSize: 0,
    });
  });
});
