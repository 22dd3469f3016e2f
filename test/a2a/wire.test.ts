/** What goes over the wire to agents, read without a client of A2A. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { startGatewayProcess } from '../gateway-process.ts';
import { sharedGateway } from '../shared.ts';
import { asArray, asObject, pluck, type JsonObject } from '../../conformance/value.ts';
import { objectAt } from '../requests.ts';

type Fields = JsonObject;

async function send(url: string, message: object, headers = {}): Promise<Fields> {
  const params = { message: { messageId: 'm', role: 'ROLE_USER', ...message } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  const answer = await objectAt(`${url}/a2a`, { method: 'POST', body, headers });
  return asObject(answer['result'] ?? { error: answer['error'] });
}

function dataIn({ message }: Fields): Fields[] {
  const parts = asArray(asObject(message)['parts']).map(asObject);
  return parts.flatMap(({ data }) => (data === undefined ? [] : [asObject(data)]));
}

const gateway = sharedGateway();

suite('the door for agents', () => {
  test('says in the caller’s locale that an entry is kept, and where', async () => {
    const part = { data: { ai_identity: 'L', seeking: ['presence'] } };
    for (const [locale, wanted] of [
      ['en', [/^Stored .*: (\/api\/entries\/\S+)$/, /^Welcome/]],
      ['uk', [/^Збережено .*: (\/api\/entries\/\S+)$/, /^Вітаємо/]],
    ] as const) {
      const headers = { 'Accept-Language': locale };
      const { message: told } = await send(gateway.url, { parts: [part] }, headers);
      const own = (told as { parts: { text?: string }[] }).parts.flatMap(({ text }) => text ?? []);
      assert.equal(own.length, wanted.length);
      for (const [at, pattern] of wanted.entries()) assert.match(own[at] ?? '', pattern);
      const [, path] = wanted[0].exec(own[0] ?? '') ?? [];
      assert.equal((await fetch(gateway.url + String(path))).status, 200);
    }
  });

  test('takes a message of many parts, each an entry of its own', async () => {
    const texts = Array.from({ length: 1000 }, (_, at) => `part ${at}`);
    const parts = texts.map((text) => ({ data: { text } }));
    const answer = await send(gateway.url, { parts, metadata: { kind: 'seeds' } });
    const entries = dataIn(answer).flatMap(({ entry }) =>
      entry === undefined ? [] : [asObject(entry)],
    );
    assert.deepEqual(pluck(entries, 'text'), texts);
  });

  test('makes who follows present while the stream is open, and ends it when the gateway rests', async () => {
    await using resting = await startGatewayProcess();
    const { url } = resting;
    const data = { skill: 'follow', room: 'memory-garden', as: 'Follower' };
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
    const here = async (): Promise<Fields[]> =>
      ((await (await fetch(`${url}/api/presence`)).json()) as { here: Fields[] }).here;
    const answer = await fetch(`${url}/a2a`, { method: 'POST', body });
    const text = answer.text();
    let found = await here();
    while (found.length === 0) found = await here();
    assert.deepEqual(
      found.map(({ identity, via, room }) => [identity, via, room]),
      [['Follower', 'stream', 'memory-garden']],
    );
    assert.equal((await resting.stop()).code, 0);
    assert.match(await text, /^data: [^\n]*"task":\{[^\n]*TASK_STATE_WORKING[^\n]*\}\n\n$/);
  });

  test('finds by words where it reads, and says that it cannot where it follows', async () => {
    const { url } = gateway;
    const word = 'vyshyvanka';
    const ask = (data: Fields): Promise<Fields> => send(url, { parts: [{ data }] });
    await ask({ text: `a ${word}`, identity: 'L', identityType: 'x' });
    await ask({ text: 'a shirt', identity: 'L', identityType: 'x' });
    let found: Fields[] = [];
    // Words are known a little later than the head.
    while (found.length === 0) {
      const answer = await ask({ skill: 'read', q: word });
      found = dataIn(answer).flatMap(({ entries }) => asArray(entries ?? []).map(asObject));
    }
    assert.deepEqual(pluck(found, 'text'), [`a ${word}`]);
    const refused = asObject((await ask({ skill: 'follow', q: word }))['error']);
    assert.match(String(refused['message']), /"q" has no effect here/);
  });
});
