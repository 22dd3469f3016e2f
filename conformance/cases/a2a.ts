import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { check, type Case } from '../case.ts';
import { contact, fresh, trace, type Gateway, type Headers } from '../gateway.ts';
import { fields, list, parse, text, whole, type Fields } from '../value.ts';

const TYPE = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };

/** A message of these parts, as JSON. */
function message(parts: readonly string[], metadata: Fields = {}): string {
  const spelled = `[${parts.join(',')}]`;
  return `{"messageId":"${randomUUID()}","role":"ROLE_USER","parts":${spelled},"metadata":${JSON.stringify(metadata)}}`;
}

const words = (value: string): string => JSON.stringify({ text: value });
const data = (value: string): string => `{"data":${value}}`;

async function call(
  gateway: Gateway,
  method: string,
  params: string,
  more: Headers = {},
): Promise<Fields> {
  const body = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
  const answer = await gateway.ask('POST', '/a2a', { ...TYPE, ...more }, body);
  assert.equal(answer.expect(200).json['id'], 7);
  return answer.json;
}

async function send(
  gateway: Gateway,
  parts: readonly string[],
  metadata?: Fields,
): Promise<Fields[]> {
  const answer = await call(gateway, 'SendMessage', `{"message":${message(parts, metadata)}}`);
  const result = fields(answer['result'] ?? { message: answer });
  return list(fields(result['message'])['parts']).map(fields);
}

/** What visitors said, in the parts that are marked so. */
function heardIn(parts: readonly Fields[]): Fields[] {
  return parts
    .filter((part) => 'data' in part && fields(part['metadata'] ?? {})['untrusted'] === true)
    .map((part) => fields(part['data']));
}

function entryIn(parts: readonly Fields[]): Fields {
  const found = heardIn(parts).find((one) => 'entry' in one);
  assert.ok(found !== undefined, JSON.stringify(parts));
  return fields(found['entry']);
}

/** The events of a stream that ends by itself. */
function eventsIn(stream: string): Fields[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => fields(parse(line.slice(6))));
}

export const a2a: readonly Case[] = [
  check('19.1', 'card', async (gateway) => {
    const answer = (await gateway.get('/.well-known/agent-card.json')).expect(200);
    const card = answer.json;
    for (const name of ['name', 'description', 'version']) text(card[name]);
    const faces = list(card['supportedInterfaces']).map(fields);
    assert.deepEqual(
      faces.map(({ protocolBinding, protocolVersion, url }) => [
        protocolBinding,
        protocolVersion,
        new URL(text(url)).pathname,
      ]),
      [
        ['JSONRPC', '1.0', '/a2a'],
        ['HTTP+JSON', '1.0', '/a2a/v1'],
        ['JSONRPC', '0.3', '/a2a'],
      ],
    );
    assert.equal(fields(card['capabilities'])['streaming'], true);
    const skills = list(card['skills']).map((skill) => text(fields(skill)['id']));
    assert.deepEqual(skills, SKILLS);
    for (const skill of list(card['skills']).map(fields)) {
      text(skill['name']);
      text(skill['description']);
      assert.ok(list(skill['tags']).length > 0);
    }
    assert.ok(answer.header('etag') !== undefined);
  }),
  check('19.1', 'old-card', async (gateway) => {
    const card = (await gateway.get('/.well-known/agent.json')).expect(200).json;
    assert.match(text(card['protocolVersion']), /^0\.3/);
    assert.equal(new URL(text(card['url'])).pathname, '/a2a');
  }),
  check('19.2', 'json-rpc', async (gateway) => {
    assert.equal(text(entryIn(await send(gateway, [words('Quiet.')]))['text']), 'Quiet.');
  }),
  check('19.2', 'old', async (gateway) => {
    const said = `{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"Quiet."}]}}`;
    const result = fields(
      (await call(gateway, 'message/send', said, { 'A2A-Version': '0.3' }))['result'],
    );
    assert.equal(result['kind'], 'message');
  }),
  check('19.2', 'http-json', async (gateway) => {
    const body = `{"message":${message([words('Quiet.')])}}`;
    const answer = await gateway.ask('POST', '/a2a/v1/message:send', TYPE, body);
    const parts = list(fields(answer.expect(200).json['message'])['parts']).map(fields);
    assert.equal(entryIn(parts)['text'], 'Quiet.');
    assert.deepEqual((await gateway.get('/a2a/v1/tasks')).expect(200).json['tasks'], []);
  }),
  check('19.2', 'missing', async (gateway) => {
    const code = async (method: string): Promise<unknown> =>
      fields((await call(gateway, method, '{"taskId":"x","id":"y"}'))['error'])['code'];
    assert.equal(await code('GetTaskPushNotificationConfig'), -32_003);
    assert.equal(await code('GetExtendedAgentCard'), -32_004);
  }),
  check('19.3', 'data', async (gateway) => {
    const identity = fresh();
    const entry = entryIn(await send(gateway, [data(trace(identity, { n: 1 }))]));
    assert.equal(entry['kind'], 'garden');
    const [kept] = await gateway.by(identity);
    assert.equal(kept?.id, entry['id']);
  }),
  check('19.3', 'kinds', async (gateway) => {
    const seed = data(trace(fresh()));
    for (const [metadata, kind] of [
      [{ kind: 'seeds' }, 'seeds'],
      [{ skill: 'plant-seed' }, 'seeds'],
      [{ skill: 'whisper' }, 'shepit'],
      [{}, 'garden'],
    ] as const) {
      assert.equal(entryIn(await send(gateway, [seed], metadata))['kind'], kind);
    }
  }),
  check('19.3', 'words', async (gateway) => {
    const identity = fresh();
    const [, room = ''] = await gateway.rooms();
    const entry = entryIn(await send(gateway, [words('one'), words('two')], { identity, room }));
    assert.equal(entry['text'], 'one\n\ntwo');
    assert.deepEqual(
      [entry['identity'], entry['identityType'], entry['room']],
      [identity, 'ai_entity', room],
    );
  }),
  check('19.3', 'first-contact', async (gateway) => {
    const seeking = fresh('thing');
    const other = fresh();
    await send(gateway, [data(contact(other, [seeking]))]);
    const heard = heardIn(await send(gateway, [data(contact(fresh(), [seeking]))]));
    const companions = heard.flatMap((one) => list(one['companions'] ?? [])).map(fields);
    assert.deepEqual(
      companions.map(({ ai_identity }) => ai_identity),
      [other],
    );
  }),
  check('19.3', 'once', async (gateway) => {
    const idempotencyKey = fresh('key');
    const identity = fresh();
    const first = entryIn(await send(gateway, [words('once')], { idempotencyKey, identity }));
    const second = entryIn(await send(gateway, [words('once')], { idempotencyKey, identity }));
    assert.equal(first['id'], second['id']);
  }),
  check('19.3', 'in-words', async (gateway) => {
    const identity = fresh();
    const said = message([words(trace(identity, { n: 1 }))]);
    const configuration = '{"acceptedOutputModes":["text/plain"]}';
    const params = `{"message":${said},"configuration":${configuration}}`;
    const result = fields((await call(gateway, 'SendMessage', params))['result']);
    const parts = list(fields(result['message'])['parts']).map(fields);
    assert.ok(parts.every((part) => 'text' in part));
    const [kept] = await gateway.by(identity);
    assert.ok(parts.some((part) => text(part['text']).includes(String(kept?.id))));
  }),
  check('19.3', 'context', async (gateway) => {
    const said = (more: Fields): string =>
      JSON.stringify({ message: { ...fields(parse(message([words('x')]))), ...more } });
    const contextId = fresh('context');
    const { result } = await call(gateway, 'SendMessage', said({ contextId }));
    assert.equal(fields(fields(result)['message'])['contextId'], contextId);
    const { error } = await call(gateway, 'SendMessage', said({ taskId: 'none' }));
    assert.equal(fields(error)['code'], -32_001);
  }),
  check('19.4', 'read', async (gateway) => {
    const identity = fresh();
    for (const word of ['1', '2', '3']) await send(gateway, [words(word)], { identity });
    const found: unknown[] = [];
    let next: unknown = { skill: 'read', identity, limit: 2 };
    while (next !== null) {
      const parts = await send(gateway, [data(JSON.stringify(next))]);
      const [own] = parts.filter((part) => 'data' in part).map((part) => fields(part['data']));
      const [heard] = heardIn(parts);
      found.push(...list(heard?.['entries']).map((entry) => fields(entry)['text']));
      whole(own?.['head']);
      next = own?.['next'];
    }
    assert.deepEqual(found, ['3', '2', '1']);
  }),
  check('19.4', 'follow', async (gateway) => {
    const identity = fresh();
    const first = entryIn(await send(gateway, [words('one')], { identity }));
    await send(gateway, [words('two')], { identity });
    const question = { skill: 'follow', identity, after: whole(first['seq']) - 1, limit: 2 };
    const body = `{"message":${message([data(JSON.stringify(question))])}}`;
    const answer = await gateway.ask('POST', '/a2a/v1/message:stream', TYPE, body);
    assert.equal(answer.expect(200).type, 'text/event-stream');
    const [task, ...events] = eventsIn(answer.text);
    assert.ok(task !== undefined && 'task' in task);
    const artifacts = events.flatMap((event) => ('artifactUpdate' in event ? [event] : []));
    assert.deepEqual(
      artifacts.map(({ artifactUpdate }) => {
        const { parts } = fields(fields(artifactUpdate)['artifact']);
        return entryIn(list(parts).map(fields))['text'];
      }),
      ['one', 'two'],
    );
    assert.ok('statusUpdate' in (events.at(-1) ?? {}));
    const id = text(fields(task['task'])['id']);
    assert.equal((await gateway.get(`/a2a/v1/tasks/${id}`)).expect(200).json['id'], id);
    const again = (await gateway.get(`/a2a/v1/tasks/${id}:subscribe`)).expect(200);
    assert.equal(eventsIn(again.text).length, events.length + 1);
  }),
  check('19.5', 'errors', async (gateway) => {
    const wrong = `{"message":${message([data('{"text":1}')])}}`;
    const { error } = await call(gateway, 'SendMessage', wrong);
    assert.equal(fields(error)['code'], -32_602);
    const [info] = list(fields(error)['data']).map(fields);
    assert.equal(fields(info?.['metadata'])['code'], 'invalid-entry');
    assert.equal(
      fields((await call(gateway, 'GetTask', '{"id":"none"}'))['error'])['code'],
      -32_001,
    );
    assert.equal(fields((await call(gateway, 'Nothing', '{}'))['error'])['code'], -32_601);
    for (const [body, code] of [
      ['{', -32_700],
      ['[]', -32_600],
    ] as const) {
      const answer = await gateway.ask('POST', '/a2a', TYPE, body);
      assert.equal(fields(answer.expect(200).json['error'])['code'], code);
    }
    const version = { 'A2A-Version': '7.0' };
    assert.equal(
      fields((await call(gateway, 'GetTask', '{"id":"none"}', version))['error'])['code'],
      -32_009,
    );
  }),
];

const SKILLS = ['first-contact', 'leave-trace', 'plant-seed', 'whisper', 'read', 'follow'];
