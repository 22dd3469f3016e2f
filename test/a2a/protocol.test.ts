/** What the specification of A2A asks of every agent, over the wire. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { sharedGateway } from '../shared.ts';

interface Told {
  readonly status: number;
  readonly type: string | null;
  readonly body: JsonObject;
}

const gateway = sharedGateway();

type Headers = Record<string, string>;

async function ask(path: string, init: RequestInit = {}): Promise<Told> {
  const answer = await fetch(gateway.url + path, init);
  const type = answer.headers.get('content-type');
  return { status: answer.status, type, body: asObject(await answer.json()) };
}

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Headers = {}) =>
  ask(path, { method: 'POST', body, headers });
const send = (message: unknown) => post('/a2a/v1/message:send', JSON.stringify({ message }));
const call = (method: string, params: unknown, headers: Headers = {}) =>
  post('/a2a', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);

const SAYING = { messageId: 'm', role: 'ROLE_USER' };
const TRACE = { ...SAYING, parts: [{ text: 'x' }] };

const errorIn = ({ body }: Told): JsonObject => asObject(body['error']);
const codeIn = (told: Told): unknown => errorIn(told)['code'];

function reasonIn(error: JsonObject): unknown {
  const [info] = asArray(error['details'] ?? error['data']).map(asObject);
  return info?.['reason'];
}

async function head(): Promise<unknown> {
  return (await ask('/api/garden?limit=1')).body['head'];
}

suite('a message that is none', () => {
  const WRONG: readonly (readonly [message: unknown, pointer: string, said: RegExp])[] = [
    [null, '/message', /"message" must be an object/],
    [5, '/message', /"message" must be an object/],
    [SAYING, '/message/parts', /at least one part/],
    [{ ...SAYING, parts: [] }, '/message/parts', /at least one part/],
    [{ ...SAYING, parts: { text: 'x' } }, '/message/parts', /must be a list/],
    [{ ...SAYING, parts: [null] }, '/message/parts/0', /must be an object/],
    [{ ...SAYING, parts: [{ text: 'a' }, 'b'] }, '/message/parts/1', /must be an object/],
    [{ ...SAYING, parts: [{ text: 5 }] }, '/message/parts/0/text', /must be a string/],
    [{ ...SAYING, parts: [{ text: { a: 1 } }] }, '/message/parts/0/text', /must be a string/],
    [{ ...SAYING, parts: [{ text: 'a', data: {} }] }, '/message/parts/0', /one of text and data/],
    [{ ...TRACE, metadata: 'seeds' }, '/message/metadata', /must be an object/],
    [{ ...SAYING, parts: [{ text: 'a', metadata: [] }] }, '/message/parts/0/metadata', /object/],
  ];

  test('is refused with what is wrong where, and nothing is kept', async () => {
    const before = await head();
    for (const [message, pointer, said] of WRONG) {
      const rest = await send(message);
      assert.deepEqual([rest.status, rest.type], [400, 'application/a2a+json']);
      const rpc = await call('SendMessage', { message });
      assert.deepEqual([rpc.status, codeIn(rpc)], [200, -32_602]);
      for (const [error, details] of [
        [errorIn(rest), errorIn(rest)['details']],
        [errorIn(rpc), errorIn(rpc)['data']],
      ]) {
        assert.match(asString(asObject(error)['message']), said);
        const [info] = asArray(details).map(asObject);
        const [fault] = asArray(JSON.parse(asString(asObject(info?.['metadata'])['faults'])));
        assert.equal(asObject(fault)['pointer'], pointer);
      }
      const old = await call('message/send', { message });
      assert.equal(codeIn(old), -32_602, JSON.stringify(old.body));
    }
    const bare = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text' }] };
    assert.equal(codeIn(await call('message/send', { message: bare })), -32_602);
    assert.equal(await head(), before);
  });

  test('is refused as a file, since none is kept', async () => {
    for (const file of [{ raw: 'aGk=', filename: 'a' }, { url: 'https://a.example/a.png' }]) {
      const told = await send({ ...SAYING, parts: [file] });
      assert.equal(reasonIn(errorIn(told)), 'CONTENT_TYPE_NOT_SUPPORTED');
    }
  });

  test('is answered in A2A’s form though it is no JSON, or no text', async () => {
    for (const body of ['{', '', Uint8Array.of(0x22, 0xff, 0x22)]) {
      const rest = await post('/a2a/v1/message:send', body);
      assert.deepEqual([rest.status, rest.type], [400, 'application/a2a+json']);
      const rpc = await post('/a2a', body);
      assert.deepEqual([codeIn(rpc), rpc.body['id']], [-32_700, null]);
    }
  });

  test('is judged however many values it has', async () => {
    const many = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":[${'[],'.repeat(2_000_000)}[]]}]}}`;
    const rest = await post('/a2a/v1/message:send', many);
    assert.match(asString(errorIn(rest)['message']), /must be a JSON object, got an array/);
    const quoted = String.raw`\",[{`.repeat(500_000);
    const long = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"${quoted}"}]}}`;
    const kept = await Promise.all([1, 2].map(() => post('/a2a/v1/message:send', long)));
    for (const { status } of kept) assert.equal(status, 200);
  });
});

suite('a call', () => {
  test('that is none is an invalid request, and has the id that it can have', async () => {
    for (const [body, id] of [
      ['[{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}]', null],
      ['5', null],
      ['{"jsonrpc":"1.0","id":1,"method":"ListTasks"}', 1],
      ['{"jsonrpc":"2.0","id":"a"}', 'a'],
      ['{"jsonrpc":"2.0","id":{},"method":"ListTasks","params":{}}', null],
    ] as const) {
      const told = await post('/a2a', body);
      assert.deepEqual([codeIn(told), told.body['id']], [-32_600, id], body);
    }
    assert.equal(
      codeIn(await post('/a2a', '{"jsonrpc":"2.0","id":1,"method":"GetTask"}')),
      -32_602,
    );
  });

  test('gets its own id back, however it is spelled', async () => {
    for (const id of ['12345678901234567890', '1.50', '-0', '"1"', 'null', '7']) {
      for (const method of ['ListTasks', 'GetTask', 'Nothing']) {
        const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`;
        const told = await (await fetch(`${gateway.url}/a2a`, { method: 'POST', body })).text();
        assert.ok(told.includes(`"id":${id === '-0' ? '0' : id}`), told);
      }
    }
  });

  test('of a method that is none is told those that are', async () => {
    assert.match(asString(errorIn(await call('Send', {}))['message']), /1\.0 has SendMessage/);
    assert.match(
      asString(errorIn(await call('tasks/all', {}))['message']),
      /0\.3 has message\/send/,
    );
  });

  test('is of the version that it says, whatever the patch', async () => {
    const code = async (method: string, version: string): Promise<unknown> =>
      codeIn(await call(method, { id: 'x' }, { 'A2A-Version': version }));
    for (const version of ['', '1.0', '1.0.7'])
      assert.equal(await code('GetTask', version), -32_001);
    for (const version of ['', '0.3', '0.3.0']) {
      assert.equal(await code('tasks/get', version), -32_001);
    }
    assert.equal(await code('tasks/get', '1.0'), -32_601);
    assert.equal(await code('GetTask', '0.3'), -32_601);
    for (const method of ['GetTask', 'tasks/get']) assert.equal(await code(method, '7.0'), -32_009);
    const rest = await ask('/a2a/v1/tasks?A2A-Version=0.3');
    assert.equal(reasonIn(errorIn(rest)), 'VERSION_NOT_SUPPORTED');
  });
});

suite('what this gateway has not', () => {
  test('is said to be so: pushing', async () => {
    for (const method of ['Create', 'Get', 'Delete']) {
      const told = await call(`${method}TaskPushNotificationConfig`, { taskId: 'x', id: 'y' });
      assert.equal(codeIn(told), -32_003, method);
    }
    assert.equal(codeIn(await call('ListTaskPushNotificationConfigs', { taskId: 'x' })), -32_003);
    const config = { taskId: 'x', pushNotificationConfig: { url: 'https://a.example' } };
    assert.equal(codeIn(await call('tasks/pushNotificationConfig/set', config)), -32_003);
    const path = '/a2a/v1/tasks/x/pushNotificationConfigs';
    for (const told of [
      await post(path, '{}'),
      await ask(path),
      await ask(`${path}/y`),
      await ask(`${path}/y`, { method: 'DELETE' }),
    ]) {
      assert.equal(told.status, 400);
      assert.equal(reasonIn(errorIn(told)), 'PUSH_NOTIFICATION_NOT_SUPPORTED');
    }
  });

  test('is said to be so: another card for some', async () => {
    assert.equal(codeIn(await call('GetExtendedAgentCard', undefined)), -32_004);
    assert.equal(codeIn(await call('agent/getAuthenticatedExtendedCard', undefined)), -32_007);
    const rest = await ask('/a2a/v1/extendedAgentCard');
    assert.equal(reasonIn(errorIn(rest)), 'UNSUPPORTED_OPERATION');
  });

  test('is said to be so: other paths', async () => {
    const told = await ask('/a2a/v1/nothing');
    assert.deepEqual([told.status, told.type], [404, 'application/a2a+json']);
    assert.equal(errorIn(told)['status'], 'NOT_FOUND');
    assert.match(asString(errorIn(told)['message']), /\/a2a\/v1\/message:send/);
  });
});

suite('what belongs together', () => {
  const following = { ...SAYING, parts: [{ data: { skill: 'follow', after: 0, limit: 1 } }] };

  test('a task is of the context that its message names, wherever it is told', async () => {
    await send(TRACE);
    const task = asObject((await send({ ...following, contextId: 'ours' })).body['task']);
    const id = asString(task['id']);
    assert.equal(task['contextId'], 'ours');
    assert.equal((await ask(`/a2a/v1/tasks/${id}`)).body['contextId'], 'ours');
    const stream = await fetch(`${gateway.url}/a2a/v1/tasks/${id}:subscribe`, { method: 'POST' });
    const events = (await stream.text()).trim().split('\n\n');
    assert.equal(events.length, 3);
    for (const event of events) {
      const [told] = Object.values(asObject(JSON.parse(event.slice('data: '.length))));
      assert.equal(asObject(told)['contextId'], 'ours');
    }
    const answer = asObject((await send({ ...TRACE, taskId: id })).body['message']);
    assert.equal(answer['contextId'], 'ours');
    const other = await send({ ...TRACE, taskId: id, contextId: 'theirs' });
    assert.match(asString(errorIn(other)['message']), /"contextId" is not that of the task/);
    assert.ok('message' in (await send({ ...TRACE, taskId: id, contextId: 'ours' })).body);
  });

  test('a message to a task that is none is refused, and every answer has a context', async () => {
    assert.equal((await send({ ...TRACE, taskId: 'nothing' })).status, 404);
    assert.equal(
      codeIn(await call('SendMessage', { message: { ...TRACE, taskId: 'x' } })),
      -32_001,
    );
    assert.match(asString(asObject((await send(TRACE)).body['message'])['contextId']), /\S/);
  });

  test('data beside a question are not lost silently', async () => {
    const parts = [{ data: { skill: 'read' } }, { data: { text: 'kept?' } }];
    for (const several of [parts, parts.toReversed()]) {
      const told = await send({ ...SAYING, parts: several, metadata: { kind: 'seeds' } });
      assert.match(asString(errorIn(told)['message']), /must be the only data/);
    }
    const asked = await send({ ...SAYING, parts: [{ text: 'What is new?' }, parts[0]] });
    assert.ok('message' in asked.body);
  });

  test('a key that belongs to another message keeps none of this one', async () => {
    const metadata = { kind: 'seeds', idempotencyKey: 'ours alone' };
    const said = (...texts: string[]) =>
      send({ ...SAYING, metadata, parts: texts.map((one) => ({ data: { text: one } })) });
    assert.equal((await said('one')).status, 200);
    const before = await head();
    const told = await said('another', 'and more');
    assert.match(asString(errorIn(told)['message']), /idempotency key belongs to/);
    assert.equal(await head(), before);
  });
});
