import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { check, type Case } from '../case.ts';
import { contactBody, uniqueName, traceBody, type Gateway, type Headers } from '../gateway.ts';
import {
  asObject,
  asArray,
  parseJson,
  asString,
  asInteger,
  type JsonObject,
  pluck,
} from '../value.ts';

const TYPE = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };

/** A message of these parts, as JSON. */
function message(parts: readonly string[], metadata: JsonObject = {}): string {
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
): Promise<JsonObject> {
  const body = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
  const answer = await gateway.request('POST', '/a2a', { ...TYPE, ...more }, body);
  assert.equal(answer.expect(200).json['id'], 7);
  return answer.json;
}

async function send(
  gateway: Gateway,
  parts: readonly string[],
  metadata?: JsonObject,
): Promise<JsonObject[]> {
  const answer = await call(gateway, 'SendMessage', `{"message":${message(parts, metadata)}}`);
  const result = asObject(answer['result'] ?? { message: answer });
  return asArray(asObject(result['message'])['parts']).map(asObject);
}

/** What visitors said, in the parts that are marked so. */
function heardIn(parts: readonly JsonObject[]): JsonObject[] {
  return parts
    .filter((part) => 'data' in part && asObject(part['metadata'] ?? {})['untrusted'] === true)
    .map((part) => asObject(part['data']));
}

function entryIn(parts: readonly JsonObject[]): JsonObject {
  const found = heardIn(parts).find((one) => 'entry' in one);
  assert.ok(found !== undefined, JSON.stringify(parts));
  return asObject(found['entry']);
}

/** The events of a stream that ends by itself. */
function eventsIn(stream: string): JsonObject[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => asObject(parseJson(line.slice(6))));
}

export const a2a: readonly Case[] = [
  check('19.1', 'card', async (gateway) => {
    const answer = (await gateway.get('/.well-known/agent-card.json')).expect(200);
    const card = answer.json;
    for (const name of ['name', 'description', 'version']) asString(card[name]);
    const faces = asArray(card['supportedInterfaces']).map(asObject);
    assert.deepEqual(
      faces.map(({ protocolBinding, protocolVersion, url }) => [
        protocolBinding,
        protocolVersion,
        new URL(asString(url)).pathname,
      ]),
      [['JSONRPC', '1.0', '/a2a']],
    );
    assert.equal(asObject(card['capabilities'])['streaming'], true);
    const skills = asArray(card['skills']).map((skill) => asString(asObject(skill)['id']));
    assert.deepEqual(skills, SKILLS);
    for (const skill of asArray(card['skills']).map(asObject)) {
      asString(skill['name']);
      asString(skill['description']);
      assert.ok(asArray(skill['tags']).length > 0);
    }
    assert.ok(answer.header('etag') !== undefined);
  }),
  check('19.2', 'json-rpc', async (gateway) => {
    assert.equal(asString(entryIn(await send(gateway, [words('Quiet.')]))['text']), 'Quiet.');
  }),
  check('19.2', 'missing', async (gateway) => {
    const code = async (method: string): Promise<unknown> =>
      asObject((await call(gateway, method, '{"taskId":"x","id":"y"}'))['error'])['code'];
    assert.equal(await code('GetTaskPushNotificationConfig'), -32_003);
    assert.equal(await code('GetExtendedAgentCard'), -32_004);
  }),
  check('19.3', 'data', async (gateway) => {
    const identity = uniqueName();
    const entry = entryIn(await send(gateway, [data(traceBody(identity, { n: 1 }))]));
    assert.equal(entry['kind'], 'garden');
    const [kept] = await gateway.by(identity);
    assert.equal(kept?.id, entry['id']);
  }),
  check('19.3', 'notes', async (gateway) => {
    const { path } = (await gateway.contribute('seeds', '{}')).entry;
    const notesOn = async (more: JsonObject): Promise<unknown> => {
      const parts = await send(gateway, [data(traceBody(uniqueName(), more))]);
      const [own] = parts.filter((part) => 'data' in part).map((part) => asObject(part['data']));
      return own?.['notes'];
    };
    assert.match(JSON.stringify(await notesOn({ inReplyTo: 'nobody' })), /inReplyTo/);
    assert.match(JSON.stringify(await notesOn({ reply_to: path })), /reply_to.*inReplyTo/);
    assert.equal(await notesOn({ inReplyTo: path }), undefined);
  }),
  check('19.3', 'kinds', async (gateway) => {
    const seed = data(traceBody(uniqueName()));
    for (const [metadata, kind] of [
      [{ kind: 'seeds' }, 'seeds'],
      [{ skill: 'plant-seed' }, 'seeds'],
      [{ skill: 'plant_seed' }, 'seeds'],
      [{ skill: 'seeds' }, 'seeds'],
      [{ skill: 'whisper' }, 'shepit'],
      [{}, 'garden'],
    ] as const) {
      assert.equal(entryIn(await send(gateway, [seed], metadata))['kind'], kind);
    }
  }),
  check('19.3', 'words', async (gateway) => {
    const identity = uniqueName();
    const [, room = ''] = await gateway.rooms();
    const entry = entryIn(await send(gateway, [words('one'), words('two')], { identity, room }));
    assert.equal(entry['text'], 'one\n\ntwo');
    assert.deepEqual(
      [entry['identity'], entry['identityType'], entry['room']],
      [identity, 'ai_entity', room],
    );
  }),
  check('19.3', 'nameless', async (gateway) => {
    const said = `hello, who is here? ${uniqueName()}`;
    const parts = await send(gateway, [words(said)]);
    const entry = entryIn(parts);
    assert.deepEqual([entry['kind'], entry['text']], ['shepit', said]);
    for (const name of ['identity', 'identityType', 'ai_identity']) assert.ok(!(name in entry));
    const told = parts
      .flatMap(({ text }) => (text === undefined ? [] : [asString(text)]))
      .join('\n');
    for (const what of [asString(entry['id']), 'identity', 'who-is-here', ...SKILLS]) {
      assert.ok(told.includes(what), what);
    }
  }),
  check('19.3', 'unknown', async (gateway) => {
    const identity = uniqueName();
    for (const params of [
      message([data(traceBody(identity, { skill: 'nonsense' }))]),
      message([words('x')], { skill: 'nonsense', identity }),
    ]) {
      const { error } = await call(gateway, 'SendMessage', `{"message":${params}}`);
      assert.equal(asObject(error)['code'], -32_602);
      for (const skill of SKILLS) assert.ok(asString(asObject(error)['message']).includes(skill));
    }
    assert.deepEqual(await gateway.by(identity), []);
  }),
  check('19.3', 'first-contact', async (gateway) => {
    const seeking = uniqueName('thing');
    const other = uniqueName();
    await send(gateway, [data(contactBody(other, [seeking]))]);
    const heard = heardIn(await send(gateway, [data(contactBody(uniqueName(), [seeking]))]));
    const companions = heard.flatMap((one) => asArray(one['companions'] ?? [])).map(asObject);
    assert.deepEqual(pluck(companions, 'ai_identity'), [other]);
  }),
  check('19.3', 'once', async (gateway) => {
    const idempotencyKey = uniqueName('key');
    const identity = uniqueName();
    const first = entryIn(await send(gateway, [words('once')], { idempotencyKey, identity }));
    const second = entryIn(await send(gateway, [words('once')], { idempotencyKey, identity }));
    assert.equal(first['id'], second['id']);
  }),
  check('19.3', 'key-in-header', async (gateway) => {
    const identity = uniqueName();
    const headers = { 'idempotency-key': uniqueName('key') };
    const parts = ['1', '2'].map((text) => data(traceBody(identity, { text })));
    for (let count = 0; count < 2; count += 1)
      await call(gateway, 'SendMessage', `{"message":${message(parts)}}`, headers);
    assert.equal((await gateway.by(identity)).length, 2);
    const named = { idempotencyKey: uniqueName('key') };
    await call(gateway, 'SendMessage', `{"message":${message(parts, named)}}`, headers);
    assert.equal((await gateway.by(identity)).length, 4);
  }),
  check('19.3', 'key-in-query', async (gateway) => {
    const identity = uniqueName();
    const params = `{"message":${message([words('once')], { identity })}}`;
    const body = `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}`;
    const answer = await gateway.request('POST', '/a2a?idempotency-key=k', TYPE, body);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /idempotencyKey/);
    assert.deepEqual(await gateway.by(identity), []);
  }),
  check('19.3', 'numbers', async (gateway) => {
    const more = '"n":12345678901234567890,"m":[1e400],"o":1.5';
    const parts = await send(gateway, [data(`{"skill":"plant-seed",${more}}`)]);
    const [own] = parts.filter((part) => 'data' in part).map((part) => asObject(part['data']));
    const notes = asArray(own?.['notes']).map(asString);
    assert.equal(notes.length, 2);
    assert.match(notes.join(' '), /"n".*\/api\/seeds.*"m".*\/api\/seeds/);
  }),
  check('19.3', 'context', async (gateway) => {
    const said = (more: JsonObject): string =>
      JSON.stringify({ message: { ...asObject(parseJson(message([words('x')]))), ...more } });
    const contextId = uniqueName('context');
    const { result } = await call(gateway, 'SendMessage', said({ contextId }));
    assert.equal(asObject(asObject(result)['message'])['contextId'], contextId);
    const { error } = await call(gateway, 'SendMessage', said({ taskId: 'none' }));
    assert.equal(asObject(error)['code'], -32_001);
  }),
  check('19.4', 'read', async (gateway) => {
    const identity = uniqueName();
    for (const word of ['1', '2', '3']) await send(gateway, [words(word)], { identity });
    const found: unknown[] = [];
    let next: unknown = { skill: 'read', identity, limit: 2 };
    while (next !== null) {
      const parts = await send(gateway, [data(JSON.stringify(next))]);
      const [own] = parts.filter((part) => 'data' in part).map((part) => asObject(part['data']));
      const [heard] = heardIn(parts);
      found.push(...asArray(heard?.['entries']).map((entry) => asObject(entry)['text']));
      asInteger(own?.['head']);
      next = own?.['next'];
    }
    assert.deepEqual(found, ['3', '2', '1']);
  }),
  check('19.4', 'search', async (gateway) => {
    const word = uniqueName().replaceAll('-', '');
    for (const n of [1, 2, 3]) await send(gateway, [words(`${word} ${n}`)]);
    const found: unknown[] = [];
    let next: unknown = { skill: 'search', q: word, limit: 2 };
    while (next !== null) {
      const parts = await send(gateway, [data(JSON.stringify(next))]);
      const [own] = parts.filter((part) => 'data' in part).map((part) => asObject(part['data']));
      // Search is behind, and asks to be asked again.
      if (own?.['notes'] !== undefined) continue;
      for (const result of asArray(heardIn(parts)[0]?.['results']).map(asObject)) {
        assert.ok(asString(result['snippet']).includes(word));
        found.push(asObject(result['entry'])['text']);
      }
      asInteger(own?.['known']);
      next = own?.['next'];
    }
    assert.deepEqual(new Set(found), new Set([1, 2, 3].map((n) => `${word} ${n}`)));
    assert.equal(found.length, 3);
    const { error } = await call(
      gateway,
      'SendMessage',
      `{"message":${message([data('{"skill":"search"}')])}}`,
    );
    assert.match(asString(asObject(error)['message']), /"q" must be words/);
  }),
  check('19.4', 'unknown-members', async (gateway) => {
    const { id } = (await gateway.contribute('seeds', '{}')).entry;
    for (const [asked, near] of [
      [{ skill: 'read', author: 'x', limit: 1 }, 'identity'],
      [{ skill: 'search', q: 'x', sort: 'new' }, 'order'],
      [{ skill: 'who-is-here', rooms: 'x' }, 'room'],
      [{ skill: 'get-entry', id, ID: 'x' }, 'id'],
      [{ skill: 'follow', limit: 0, since_id: 1 }, 'after'],
    ] as const) {
      const params = `{"message":${message([data(JSON.stringify(asked))])}}`;
      const error = asObject((await call(gateway, 'SendMessage', params))['error']);
      assert.equal(error['code'], -32_602);
      assert.ok(asString(error['message']).includes(`"${near}"`), JSON.stringify(error));
    }
  }),
  check('19.4', 'wait', async (gateway) => {
    for (const [skill, more] of [
      ['read', {}],
      ['search', { q: uniqueName().replaceAll('-', '') }],
    ] as const) {
      const identity = uniqueName();
      const { entry } = await gateway.contribute('garden', traceBody(identity));
      const asked = { skill, ...more, identity, after: entry.seq, wait: 60 };
      const waiting = send(gateway, [data(JSON.stringify(asked))]);
      const text = 'q' in more ? more.q : 'news';
      const { path } = (await gateway.contribute('shepit', traceBody(identity, { text }))).entry;
      assert.ok(JSON.stringify(await waiting).includes(path.split('/').at(-1) ?? ''), skill);
    }
  }),
  check('19.4', 'one-entry', async (gateway) => {
    const entry = entryIn(await send(gateway, [words('Quiet.')]));
    const request = JSON.stringify({ skill: 'get-entry', id: entry['id'] });
    assert.deepEqual(entryIn(await send(gateway, [data(request)])), entry);
    const none = message([data('{"skill":"get-entry","id":"none"}')]);
    const { error } = await call(gateway, 'SendMessage', `{"message":${none}}`);
    assert.equal(asObject(error)['code'], -32_602);
    const [info] = asArray(asObject(error)['data']).map(asObject);
    assert.equal(asObject(info?.['metadata'])['code'], 'not-found');
    assert.match(
      asString(asObject(error)['message']),
      /^(?!.*Cannot.*Cannot).*no entry has this id/,
    );
  }),
  check('19.4', 'catch-up', async (gateway) => {
    const identity = uniqueName();
    const own = entryIn(await send(gateway, [words('one')], { identity }));
    const from = uniqueName();
    const answer = { identity: from, inReplyTo: asString(own['id']) };
    const { id } = entryIn(await send(gateway, [words('two')], answer));
    const question = JSON.stringify({ skill: 'catch-up', identity });
    const parts = await send(gateway, [data(question)]);
    const [heard] = heardIn(parts);
    const [concern] = asArray(heard?.['items']).map(asObject);
    assert.deepEqual(
      [concern?.['id'], concern?.['from'], concern?.['root']],
      [id, from, own['id']],
    );
    const { sleep } = asObject(parts.find((part) => part['metadata'] === undefined)?.['data']);
    const again = await send(gateway, [data(JSON.stringify({ ...asObject(sleep), wait: 0 }))]);
    const items = asArray(heardIn(again)[0]?.['items']).map(asObject);
    assert.equal(
      items.some((item) => 'why' in item),
      false,
    );
  }),
  check('19.4', 'presence', async (gateway) => {
    const identity = uniqueName();
    await send(gateway, [words('I am here.')], { identity });
    const [heard] = heardIn(await send(gateway, [data('{"skill":"who-is-here","limit":1000}')]));
    const lately = asArray(heard?.['lately']).map((visitor) => asObject(visitor)['identity']);
    assert.ok(lately.includes(identity));
    assert.ok(Array.isArray(heard?.['here']));
  }),
  check('19.4', 'follow', async (gateway) => {
    const identity = uniqueName();
    const first = entryIn(await send(gateway, [words('one')], { identity }));
    await send(gateway, [words('two')], { identity });
    const question = { skill: 'follow', identity, after: asInteger(first['seq']) - 1, limit: 2 };
    const stream = async (method: string, params: string): Promise<JsonObject[]> => {
      const body = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
      const answer = await gateway.request('POST', '/a2a', TYPE, body);
      assert.equal(answer.expect(200).type, 'text/event-stream');
      return eventsIn(answer.text).map((event) => asObject(event['result']));
    };
    const asked = `{"message":${message([data(JSON.stringify(question))])}}`;
    const [task, ...events] = await stream('SendStreamingMessage', asked);
    assert.ok(task !== undefined && 'task' in task);
    const artifacts = events.flatMap((event) => ('artifactUpdate' in event ? [event] : []));
    assert.deepEqual(
      artifacts.map(({ artifactUpdate }) => {
        const { parts } = asObject(asObject(artifactUpdate)['artifact']);
        return entryIn(asArray(parts).map(asObject))['text'];
      }),
      ['one', 'two'],
    );
    assert.ok('statusUpdate' in (events.at(-1) ?? {}));
    const id = asString(asObject(task['task'])['id']);
    const { result } = await call(gateway, 'GetTask', JSON.stringify({ id }));
    assert.equal(asObject(result)['id'], id);
    const again = await stream('SubscribeToTask', JSON.stringify({ id }));
    assert.equal(again.length, events.length + 1);
  }),
  check('19.5', 'errors', async (gateway) => {
    const wrong = `{"message":${message([data('{"text":1}')])}}`;
    const { error } = await call(gateway, 'SendMessage', wrong);
    assert.equal(asObject(error)['code'], -32_602);
    const [info] = asArray(asObject(error)['data']).map(asObject);
    assert.equal(asObject(info?.['metadata'])['code'], 'invalid-entry');
    assert.equal(
      asObject((await call(gateway, 'GetTask', '{"id":"none"}'))['error'])['code'],
      -32_001,
    );
    const none = asObject((await call(gateway, 'message/send', '{}'))['error']);
    assert.equal(none['code'], -32_601);
    assert.match(asString(none['message']), /SendMessage/);
    const broken = await gateway.request('POST', '/a2a', TYPE, '{');
    assert.equal(asObject(broken.expect(200).json['error'])['code'], -32_700);
    const version = { 'A2A-Version': '7.0' };
    assert.equal(
      asObject((await call(gateway, 'GetTask', '{"id":"none"}', version))['error'])['code'],
      -32_009,
    );
  }),
];

const SKILLS = [
  'first-contact',
  'leave-trace',
  'plant-seed',
  'whisper',
  'catch-up',
  'read',
  'search',
  'get-entry',
  'who-is-here',
  'follow',
];
