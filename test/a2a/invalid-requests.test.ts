/** Requests in which one thing is something else: each is answered, and none as a fault of ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asObject, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';

const TASK = `follow-${Buffer.from('after=0&limit=1').toString('base64url')}`;
const MESSAGE = { messageId: 'm', role: 'ROLE_USER' };
const FOLLOW = { skill: 'follow', limit: 1, after: 0, room: 'welcome-space' };
const READ = { skill: 'read', limit: 1, before: 9, to: ['a'], since: '2026-01-01T00:00:00Z' };

const CALLS: readonly (readonly [method: string, params: JsonObject])[] = [
  [
    'SendMessage',
    {
      message: {
        ...MESSAGE,
        parts: [
          { text: 'a', metadata: { kind: 'seeds' }, filename: 'f', mediaType: 'text/plain' },
          { data: { text: 'x' } },
        ],
        metadata: { kind: 'seeds', skill: 'whisper', to: ['a'], inReplyTo: 'b', identity: 'c' },
        extensions: ['x'],
        referenceTaskIds: ['y'],
        contextId: 'c',
        taskId: '',
      },
      configuration: {
        acceptedOutputModes: ['text/plain'],
        historyLength: 1,
        returnImmediately: true,
        taskPushNotificationConfig: { url: 'https://a.example' },
      },
      metadata: { idempotencyKey: 'k' },
      tenant: 't',
    },
  ],
  ['SendMessage', { message: { ...MESSAGE, parts: [{ data: READ }] } }],
  ['SendMessage', { message: { ...MESSAGE, parts: [{ data: FOLLOW }] } }],
  ['GetTask', { id: TASK, historyLength: 1, tenant: '' }],
  ['CancelTask', { id: TASK, metadata: {} }],
  [
    'ListTasks',
    {
      status: 'TASK_STATE_WORKING',
      pageSize: 5,
      statusTimestampAfter: '2026-01-01T00:00:00Z',
      includeArtifacts: true,
    },
  ],
  ['CreateTaskPushNotificationConfig', { taskId: 'x', url: 'https://a.example' }],
];

const ELSE = [null, 5, '', 'x', true, [], {}, [null], { a: 1 }, '\ud800', TASK];

/** Every value that differs from this one in one place. */
function* changed(value: unknown): Generator {
  yield* ELSE;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const other of changed(item)) yield value.with(at, other);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const other of changed(member)) yield { ...value, [name]: other };
      const { [name]: _, ...others } = asObject(value);
      yield others;
    }
  }
}

test('whatever is wrong in a request to the door for agents is the request’s', async () => {
  await using gateway = await startGatewayProcess();
  const post = async (path: string, body: unknown): Promise<JsonObject> => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return asObject(await (await fetch(gateway.url + path, init)).json());
  };
  for (const [method, params] of CALLS) {
    for (const other of changed(params)) {
      const told = await post('/a2a', { jsonrpc: '2.0', id: 1, method, params: other });
      const { result, error } = told;
      const where = `${method} ${JSON.stringify(other)}: ${JSON.stringify(told)}`;
      assert.ok(result !== undefined || error !== undefined, where);
    }
  }
  assert.doesNotMatch(gateway.output(), /fault/);
});
