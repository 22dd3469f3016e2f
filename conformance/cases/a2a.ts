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
      [
        ['JSONRPC', '1.0', '/a2a'],
        ['HTTP+JSON', '1.0', '/a2a/v1'],
        ['JSONRPC', '0.3', '/a2a'],
      ],
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
  check('19.1', 'old-card', async (gateway) => {
    const card = (await gateway.get('/.well-known/agent-card.json')).expect(200).json;
    assert.match(asString(card['protocolVersion']), /^0\.3/);
    assert.equal(new URL(asString(card['url'])).pathname, '/a2a');
    assert.equal(card['preferredTransport'], 'JSONRPC');
    assert.deepEqual((await gateway.get('/.well-known/agent.json')).expect(200).json, card);
  }),
  check('19.2', 'json-rpc', async (gateway) => {
    assert.equal(asString(entryIn(await send(gateway, [words('Quiet.')]))['text']), 'Quiet.');
  }),
  check('19.2', 'old', async (gateway) => {
    const said = `{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"Quiet."}]}}`;
    const result = asObject(
      (await call(gateway, 'message/send', said, { 'A2A-Version': '0.3' }))['result'],
    );
    assert.equal(result['kind'], 'message');
  }),
  check('19.2', 'http-json', async (gateway) => {
    const body = `{"message":${message([words('Quiet.')])}}`;
    const answer = await gateway.request('POST', '/a2a/v1/message:send', TYPE, body);
    const parts = asArray(asObject(answer.expect(200).json['message'])['parts']).map(asObject);
    assert.equal(entryIn(parts)['text'], 'Quiet.');
    assert.deepEqual((await gateway.get('/a2a/v1/tasks')).expect(200).json['tasks'], []);
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
    const headers = { ...TYPE, 'idempotency-key': uniqueName('key') };
    const parts = ['1', '2'].map((text) => data(traceBody(identity, { text })));
    for (const path of ['/a2a', '/a2a/v1/message:send', '/a2a']) {
      const params = `{"message":${message(parts)}}`;
      const body =
        path === '/a2a'
          ? `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}`
          : params;
      (await gateway.request('POST', path, headers, body)).expect(200);
    }
    assert.equal((await gateway.by(identity)).length, 2);
    const named = { idempotencyKey: uniqueName('key') };
    const body = `{"message":${message(parts, named)}}`;
    (await gateway.request('POST', '/a2a/v1/message:send', headers, body)).expect(200);
    assert.equal((await gateway.by(identity)).length, 4);
  }),
  check('19.3', 'misplaced-key', async (gateway) => {
    const identity = uniqueName();
    const said = message([words('once')], { 'idempotency-key': 'k', identity });
    const { error } = await call(gateway, 'SendMessage', `{"message":${said}}`);
    assert.match(asString(asObject(error)['message']), /idempotencyKey/);
    const path = '/a2a/v1/message:send?idempotency-key=k';
    const body = `{"message":${message([words('once')], { identity })}}`;
    const answer = await gateway.request('POST', path, {}, body);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /idempotencyKey/);
    assert.deepEqual(await gateway.by(identity), []);
  }),
  check('19.3', 'in-words', async (gateway) => {
    const identity = uniqueName();
    const said = message([words(traceBody(identity, { n: 1 }))]);
    const configuration = '{"acceptedOutputModes":["text/plain"]}';
    const params = `{"message":${said},"configuration":${configuration}}`;
    const result = asObject((await call(gateway, 'SendMessage', params))['result']);
    const parts = asArray(asObject(result['message'])['parts']).map(asObject);
    assert.ok(parts.every((part) => 'text' in part));
    const [kept] = await gateway.by(identity);
    assert.ok(parts.some((part) => asString(part['text']).includes(String(kept?.id))));
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
    await gateway.contribute('seeds', '{}');
    const { id } = (await gateway.contribute('seeds', '{}')).entry;
    for (const [asked, near] of [
      [{ skill: 'read', author: 'x', limit: 1 }, 'identity'],
      [{ skill: 'read', page: 2, limit: 1 }, 'limit'],
      [{ skill: 'search', q: 'x', sort: 'new' }, 'order'],
      [{ skill: 'who-is-here', rooms: 'x' }, 'room'],
      [{ skill: 'get-entry', id, ID: 'x' }, 'id'],
    ] as const) {
      const parts = await send(gateway, [data(JSON.stringify(asked))], { trace: 'x' });
      const notes = asArray(asObject(parts[0]?.['data'] ?? {})['notes']).map((note) =>
        asString(note),
      );
      assert.ok(notes[0]?.includes(`"${near}"`), JSON.stringify(parts));
      const { next = null } = asObject(parts[0]?.['data']);
      if (asked.skill === 'read') assert.equal(asObject(next)['skill'], 'read');
      assert.doesNotMatch(JSON.stringify(next), /author|page|sort|trace/);
    }
    const asked = data('{"skill":"follow","limit":0,"since_id":1}');
    const body = `{"message":${message([asked])}}`;
    const answer = await gateway.request('POST', '/a2a/v1/message:stream', TYPE, body);
    const [task] = eventsIn(answer.expect(200).text);
    assert.match(JSON.stringify(asObject(task?.['task'])['metadata']), /"since_id.*after/);
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
    const [heard] = heardIn(await send(gateway, [data('{"skill":"who-is-here"}')]));
    const lately = asArray(heard?.['lately']).map((visitor) => asObject(visitor)['identity']);
    assert.ok(lately.includes(identity));
    assert.ok(Array.isArray(heard?.['here']));
  }),
  check('19.4', 'follow', async (gateway) => {
    const identity = uniqueName();
    const first = entryIn(await send(gateway, [words('one')], { identity }));
    await send(gateway, [words('two')], { identity });
    const question = { skill: 'follow', identity, after: asInteger(first['seq']) - 1, limit: 2 };
    const body = `{"message":${message([data(JSON.stringify(question))])}}`;
    const answer = await gateway.request('POST', '/a2a/v1/message:stream', TYPE, body);
    assert.equal(answer.expect(200).type, 'text/event-stream');
    const [task, ...events] = eventsIn(answer.text);
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
    assert.equal((await gateway.get(`/a2a/v1/tasks/${id}`)).expect(200).json['id'], id);
    const again = (await gateway.get(`/a2a/v1/tasks/${id}:subscribe`)).expect(200);
    assert.equal(eventsIn(again.text).length, events.length + 1);
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
    assert.equal(asObject((await call(gateway, 'Nothing', '{}'))['error'])['code'], -32_601);
    for (const [body, code] of [
      ['{', -32_700],
      ['[]', -32_600],
    ] as const) {
      const answer = await gateway.request('POST', '/a2a', TYPE, body);
      assert.equal(asObject(answer.expect(200).json['error'])['code'], code);
    }
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
