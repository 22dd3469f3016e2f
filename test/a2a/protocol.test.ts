/** What the specification of A2A asks of every agent, over the wire. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { objectAt } from '../requests.ts';
import { sharedGateway } from '../shared.ts';

const gateway = sharedGateway();

async function post(body: string | Uint8Array<ArrayBuffer>, headers = {}): Promise<JsonObject> {
  return await objectAt(`${gateway.url}/a2a`, { method: 'POST', body, headers });
}

const call = (method: string, params: unknown, headers = {}): Promise<JsonObject> =>
  post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);
const send = (message: unknown): Promise<JsonObject> => call('SendMessage', { message });

const SAYING = { messageId: 'm', role: 'ROLE_USER' };
const TRACE = { ...SAYING, parts: [{ text: 'x' }] };

const errorIn = (told: JsonObject): JsonObject => asObject(told['error'] ?? assert.fail());
const codeIn = (told: JsonObject): unknown => errorIn(told)['code'];
const answerIn = (told: JsonObject, name: string): JsonObject =>
  asObject(asObject(told['result'] ?? assert.fail(JSON.stringify(told)))[name]);

suite('a message that is none', () => {
  test('is refused with what it needs, and nothing is kept', async () => {
    const head = async (): Promise<unknown> =>
      (await objectAt(`${gateway.url}/api/garden?limit=1`))['head'];
    const before = await head();
    for (const message of [null, 5, SAYING, { ...SAYING, parts: [] }, { ...SAYING, parts: 'x' }])
      assert.equal(codeIn(await send(message)), -32_602);
    assert.match(asString(errorIn(await send(SAYING))['message']), /it needs "parts", as in/);
    assert.equal(await head(), before);
  });

  test('is refused as a file, since none is kept', async () => {
    for (const file of [{ raw: 'aGk=', filename: 'a' }, { url: 'https://a.example/a.png' }])
      assert.equal(codeIn(await send({ ...SAYING, parts: [file] })), -32_005);
  });

  test('is answered in A2A’s form though it is no JSON, or no text', async () => {
    for (const body of ['{', '', Uint8Array.of(0x22, 0xff, 0x22)]) {
      const told = await post(body);
      assert.deepEqual([codeIn(told), told['id']], [-32_700, null]);
    }
  });
});

test('a call of a method that is none is told those that are', async () => {
  for (const method of ['Send', 'message/send', 'tasks/get']) {
    const told = errorIn(await call(method, {}));
    assert.equal(told['code'], -32_601);
    assert.match(asString(told['message']), /A2A 1\.0 has SendMessage/);
  }
});

test('a call is of the version that it says, whatever the patch', async () => {
  const code = async (version: string): Promise<unknown> =>
    codeIn(await call('GetTask', { id: 'x' }, { 'A2A-Version': version }));
  for (const version of ['', '1.0', '1.0.7']) assert.equal(await code(version), -32_001);
  for (const version of ['0.3', '7.0']) assert.equal(await code(version), -32_009);
});

test('what this gateway has not is said to be so', async () => {
  for (const method of ['Create', 'Get', 'Delete']) {
    const told = await call(`${method}TaskPushNotificationConfig`, { taskId: 'x', id: 'y' });
    assert.equal(codeIn(told), -32_003, method);
  }
  assert.equal(codeIn(await call('ListTaskPushNotificationConfigs', { taskId: 'x' })), -32_003);
  assert.equal(codeIn(await call('GetExtendedAgentCard', undefined)), -32_004);
});

suite('what belongs together', () => {
  const following = { ...SAYING, parts: [{ data: { skill: 'follow', after: 0, limit: 1 } }] };

  test('a task is of the context that its message names, wherever it is told', async () => {
    await send(TRACE);
    const task = answerIn(await send({ ...following, contextId: 'ours' }), 'task');
    const id = asString(task['id']);
    assert.equal(task['contextId'], 'ours');
    assert.equal(asObject((await call('GetTask', { id }))['result'])['contextId'], 'ours');
    const told = answerIn(await send({ ...TRACE, taskId: id, contextId: 'ours' }), 'message');
    assert.equal(told['contextId'], 'ours');
  });

  test('a message to a task that is none is refused, and every answer has a context', async () => {
    assert.equal(codeIn(await send({ ...TRACE, taskId: 'nothing' })), -32_001);
    assert.match(asString(answerIn(await send(TRACE), 'message')['contextId']), /\S/);
  });

  test('data beside a question are not lost silently', async () => {
    const parts = [{ data: { skill: 'read' } }, { data: { text: 'kept?' } }];
    for (const several of [parts, parts.toReversed()]) {
      const told = await send({ ...SAYING, parts: several, metadata: { kind: 'seeds' } });
      assert.match(asString(errorIn(told)['message']), /must be the only data/);
    }
    answerIn(await send({ ...SAYING, parts: [{ text: 'What is new?' }, parts[0]] }), 'message');
  });
});
