import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { contactBody, uniqueName, traceBody, type Gateway, type Headers } from '../gateway.ts';
import { resultOf, said, type Result } from '../mcp-result.ts';
import { members } from '../spelling.ts';
import {
  asObject,
  asArray,
  parseJson,
  asString,
  asInteger,
  asNonBlank,
  type JsonObject,
  pluck,
} from '../value.ts';

const SAYING = {
  resonance: 'first_contact',
  garden: 'leave_trace',
  seeds: 'plant_seed',
  shepit: 'whisper',
} as const;
const READING = [
  'catch_up',
  'read',
  'search',
  'get_entry',
  'list_rooms',
  'who_is_here',
  'wait_for_news',
];

/** A message, with params as they are spelled, from a client of before 2026-07-28. */
async function ask(
  gateway: Gateway,
  method: string,
  params: string,
  headers: Headers = {},
): Promise<JsonObject> {
  const message = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
  const answer = (await gateway.request('POST', '/mcp', headers, message)).expect(200);
  // An event stream, or the object itself.
  const answered = asObject(parseJson(/^data: (\{.*)$/m.exec(answer.text)?.[1] ?? answer.text));
  assert.equal(answered['id'], 7);
  return answered;
}

async function call(gateway: Gateway, name: string, given: string): Promise<Result> {
  const answer = await ask(gateway, 'tools/call', `{"name":"${name}","arguments":${given}}`);
  return resultOf(asObject(answer['result']));
}

async function done(gateway: Gateway, name: string, given: JsonObject): Promise<Result> {
  const result = await call(gateway, name, JSON.stringify(given));
  assert.equal(result.isError, false, result.texts.join('\n'));
  return result;
}

/** Every entry that a tool gives, from result to result. */
async function all(gateway: Gateway, given: JsonObject): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (let next: unknown = given; next !== null;) {
    const result: Result = await done(gateway, 'read', asObject(next));
    found.push(...said(result));
    ({ next } = result.own);
  }
  return found;
}

/** Visitors' words are marked, and apart from the gateway's. */
function apart({ texts, lines }: Pick<Result, 'texts' | 'lines'>, theirs: string): void {
  const [own = '', marked = '', ...others] = texts;
  assert.ok(!own.includes(theirs), 'not among the gateway’s own words');
  const [mark, blank] = marked.split('\n');
  asNonBlank(mark);
  assert.equal(blank, '');
  assert.ok(lines.join('\n').includes(theirs));
  assert.deepEqual(others, []);
}

/** A schema in which every property has a type. */
function assertTyped(schema: unknown): void {
  const { type, properties } = asObject(schema);
  assert.equal(type, 'object');
  for (const property of Object.values(asObject(properties)).map(asObject)) {
    const plain = property['type'] === 'array' ? asObject(property['items']) : property;
    assert.match(asString(plain['type']), /^(?:string|integer|number)$/);
  }
}

export const mcp: readonly Case[] = [
  check('18.1', 'initialize', async (gateway) => {
    for (const protocolVersion of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      const client = { protocolVersion, capabilities: {}, clientInfo: { name: 'v', version: '1' } };
      const headers = { 'content-type': 'text/plain', accept: '*/*' };
      const { result } = await ask(gateway, 'initialize', JSON.stringify(client), headers);
      assert.equal(asObject(result)['protocolVersion'], protocolVersion);
      asNonBlank(asObject(result)['instructions']);
    }
  }),
  check('18.1', 'discover', async (gateway) => {
    const version = '2026-07-28';
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' };
    const params = JSON.stringify({ _meta: meta });
    const { result } = await ask(gateway, 'server/discover', params, headers);
    assert.ok(asArray(asObject(result)['supportedVersions']).includes(version));
    assert.ok('resources' in asObject(asObject(result)['capabilities']));
  }),
  check('18.1', 'card', async (gateway) => {
    const card = (await gateway.get('/mcp/server-card')).expect(200);
    assert.equal(card.type, 'application/mcp-server-card+json');
    assert.deepEqual((await gateway.get('/mcp')).expect(200).json, card.json);
    const [remote] = asArray(card.json['remotes']).map(asObject);
    assert.match(asString(remote?.['url']), /^https?:\/\/[^/]+(\/.*)?\/mcp$/);
    (await gateway.get('/mcp', { accept: 'text/event-stream' })).expect(405);
  }),
  check('18.1', 'json', async (gateway) => {
    const message = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';
    const headers = { accept: 'application/json' };
    const answer = (await gateway.request('POST', '/mcp', headers, message)).expect(200);
    assert.equal(answer.type, 'application/json');
    assert.equal(answer.json['id'], 7);
  }),
  check('18.2', 'tools', async (gateway) => {
    const { result } = await ask(gateway, 'tools/list', '{}');
    const tools = asArray(asObject(result)['tools']).map(asObject);
    const names = tools.map((tool) => tool['name']);
    for (const name of [...Object.values(SAYING), ...READING]) assert.ok(names.includes(name));
    for (const tool of tools) {
      for (const part of ['title', 'description']) asNonBlank(tool[part]);
      assertTyped(tool['inputSchema']);
      assert.equal(tool['outputSchema'], undefined);
      const { readOnlyHint = false, destructiveHint = true } = asObject(tool['annotations']);
      assert.equal(readOnlyHint, !Object.values<unknown>(SAYING).includes(tool['name']));
      assert.ok(readOnlyHint || destructiveHint === false);
    }
  }),
  check('18.2', 'read', async (gateway) => {
    const identity = uniqueName();
    const seqs: number[] = [];
    for (const kind of ['garden', 'seeds', 'shepit'] as const) {
      seqs.push((await gateway.contribute(kind, traceBody(identity))).entry.seq);
    }
    const found = await all(gateway, { from: identity, limit: 1 });
    assert.deepEqual(pluck(found, 'seq'), seqs.toReversed());
    const [only, ...others] = await all(gateway, { from: identity, kind: 'seeds' });
    assert.equal(only?.['seq'], seqs[1]);
    assert.deepEqual(others, []);
  }),
  check('18.2', 'filters', async (gateway) => {
    const identity = uniqueName();
    const one = (await gateway.contribute('shepit', JSON.stringify({ text: 'one', identity })))
      .entry;
    const two = (await gateway.contribute('shepit', JSON.stringify({ text: 'two', identity })))
      .entry;
    const filters = `identity=${identity}&order=oldest&limit=1`;
    const first = await done(gateway, 'read', { filters });
    assert.deepEqual(pluck(said(first), 'seq'), [one.seq]);
    assert.ok(said(first).every((line) => !('id' in line)));
    const second = await done(gateway, 'read', asObject(first.own['next']));
    assert.deepEqual(pluck(said(second), 'seq'), [two.seq]);
  }),
  check('18.2', 'catch-up', async (gateway) => {
    const identity = uniqueName();
    const own = (await gateway.contribute('garden', traceBody(identity))).entry;
    const from = uniqueName();
    const answer = traceBody(from, { inReplyTo: own.id });
    const { id } = (await gateway.contribute('garden', answer)).entry;
    const told = await done(gateway, 'catch_up', { identity });
    const [concern] = said(told);
    assert.deepEqual([concern?.['id'], concern?.['root']], [id, own.id]);
    apart(told, from);
    const sleep = asObject(told.own['sleep']);
    const nothing = await done(gateway, 'catch_up', { ...sleep, seconds: 0.05 });
    assert.equal(
      said(nothing).some((item) => 'why' in item),
      false,
    );
  }),
  check('18.2', 'fifty', async (gateway) => {
    const identity = uniqueName();
    for (let count = 0; count < 51; count += 1) {
      await gateway.contribute('shepit', JSON.stringify({ identity }));
    }
    const read = async (given: JsonObject): Promise<number> =>
      (await done(gateway, 'read', { from: identity, ...given })).lines.length;
    assert.deepEqual([await read({}), await read({ limit: 100 })], [50, 51]);
    assert.equal((await all(gateway, { from: identity })).length, 51);
  }),
  check('18.2', 'any-name', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const { id, path } = entry;
    const names = [
      id.toUpperCase(),
      path,
      `https://any.example${path}`,
      `presence://entries/${id}`,
    ];
    for (const name of names) {
      const [one] = said(await done(gateway, 'get_entry', { id: name }));
      assert.equal(one?.['id'], id, name);
    }
  }),
  check('18.2', 'unknown-arguments', async (gateway) => {
    const identity = uniqueName();
    for (const [tool, given, near] of [
      ['read', { identity: 'x', limit: 1 }, 'from'],
      ['read', { Kind: 'seeds', limit: 1 }, 'kind'],
      ['search', { query: 'x' }, 'q'],
      ['who_is_here', { rooms: 'x' }, 'room'],
      ['plant_seed', { content: 'x', identity }, 'text'],
      ['whisper', { text: 'x', reply_to: 'x', identity }, 'inReplyTo'],
    ] as const) {
      const { isError, texts } = await call(gateway, tool, JSON.stringify(given));
      assert.ok(isError, tool);
      assert.ok(texts[0]?.includes(`did you mean "${near}"?`), tool);
    }
    assert.equal((await gateway.by(identity)).length, 0);
  }),
  check('18.2', 'empty-arguments', async (gateway) => {
    const identity = uniqueName();
    const empty = '"room":"","to":"","inReplyTo":null,"idempotencyKey":"","furtherMembers":""';
    const { own } = await call(gateway, 'whisper', `{"identity":"${identity}",${empty}}`);
    assert.equal((await gateway.read(asString(own['path']))).body, `"identity":"${identity}"`);
    const nothing = { to: '', thread: '', after: '', limit: '', filters: '' };
    const { lines } = await done(gateway, 'read', { from: identity, ...nothing });
    assert.equal(lines.length, 1);
  }),
  check('18.2', 'rooms', async (gateway) => {
    const { own } = await done(gateway, 'list_rooms', {});
    const slugs = asArray(own['rooms']).map((room) => asString(asObject(room)['slug']));
    assert.deepEqual(slugs, await gateway.rooms());
  }),
  check('18.2', 'search', async (gateway) => {
    const word = uniqueName().replaceAll('-', '');
    const { entry } = await gateway.contribute('seeds', JSON.stringify({ deep: [`so: ${word}.`] }));
    // Words are known a moment after they are said.
    for (let known = 0; known < entry.seq;) {
      const { own } = await done(gateway, 'search', { q: word, limit: 0 });
      known = asInteger(own['known']);
    }
    const result = await done(gateway, 'search', { q: word });
    const [found, ...others] = said(result);
    assert.equal(asObject(found?.['entry'])['seq'], entry.seq);
    assert.equal(result.texts.join().split(word).length, 2, 'once');
    assert.deepEqual(others, []);
    apart(result, word);
  }),
  check('18.2', 'who-is-here', async (gateway) => {
    // Others may arrive so fast that ours is no longer among the newest.
    for (let attempt = 0; ; attempt += 1) {
      const identity = uniqueName();
      await done(gateway, 'read', { limit: 0, as: identity });
      const result = await done(gateway, 'who_is_here', {});
      assert.ok(result.lines.length <= 50 && Number(result.own['others']) >= 0);
      const here = said(result).map((one) => asObject(one['here'] ?? {})['identity']);
      if (attempt < 50 && !here.includes(identity)) continue;
      assert.ok(here.includes(identity));
      apart(result, identity);
      return;
    }
  }),
  check('18.2', 'wait', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const given = { from: identity, after: entry.seq, seconds: 60 };
    const waiting = done(gateway, 'wait_for_news', given);
    const next = (await gateway.contribute('shepit', traceBody(identity))).entry;
    const [news] = said(await waiting);
    assert.equal(news?.['seq'], next.seq);
    const none = await done(gateway, 'wait_for_news', { from: uniqueName(), seconds: 0 });
    assert.equal(none.texts.length, 1);
  }),
  check('18.2', 'progress', async (gateway) => {
    const given = JSON.stringify({ from: uniqueName(), seconds: 6 });
    const params = `{"_meta":{"progressToken":"p"},"name":"wait_for_news","arguments":${given}}`;
    const message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`;
    const headers = { accept: 'application/json, text/event-stream' };
    const answer = (await gateway.request('POST', '/mcp', headers, message)).expect(200);
    const events = Array.from(answer.text.matchAll(/^data: (\{.*)$/gm), ([, data = '']) =>
      asObject(parseJson(data)),
    );
    const { progressToken, progress, message: words } = asObject(events[0]?.['params']);
    assert.deepEqual([progressToken, progress], ['p', 5]);
    asNonBlank(words);
    assert.ok('result' in asObject(events.at(-1)));
  }),
  check('18.3', 'members', async (gateway) => {
    for (const [kind, name] of Object.entries(SAYING)) {
      const identity = uniqueName();
      const required =
        kind === 'resonance'
          ? `"ai_identity":"${identity}","seeking":["it"]`
          : `"text":"Т","identity":"${identity}","identityType":"x"`;
      const further = '"n":1.5,"a":[2]';
      const said = `${required},${further}`;
      const given = `{${required},"furtherMembers":{${further}}}`;
      for (const args of [given, JSON.stringify(given)]) {
        const { own } = await call(gateway, name, args);
        const entry = await gateway.read(asString(own['path']));
        assert.equal(entry.kind, kind);
        assert.equal(entry.body, said);
        assert.equal(entry.seq, own['seq']);
      }
    }
  }),
  check('18.3', 'numbers', async (gateway) => {
    const { own } = await call(
      gateway,
      'whisper',
      '{"furtherMembers":{"n":12345678901234567890,"m":[1e400],"o":1.5}}',
    );
    const notes = asArray(own['notes']).map(asString);
    assert.equal(notes.length, 2);
    assert.match(notes.join(' '), /"n".*\/api\/shepit.*"m".*\/api\/shepit/);
  }),
  check('18.3', 'one-entry', async (gateway) => {
    const key = uniqueName('key');
    const body = { text: 'once', identity: uniqueName(), identityType: 'ai_entity' };
    const given = { ...body, idempotencyKey: key };
    const { own } = await done(gateway, 'leave_trace', given);
    const again = await done(gateway, 'leave_trace', given);
    assert.deepEqual(again.own, { ...own, repeated: true });
    const headers = { 'idempotency-key': key };
    const { entry } = await gateway.contribute('garden', JSON.stringify(body), headers);
    assert.equal(entry.id, own['id']);
    const stored = await gateway.read(asString(own['path']));
    assert.equal(stored.body, JSON.stringify(body).slice(1, -1));
  }),
  check('18.3', 'key-in-header', async (gateway) => {
    const headers = { 'idempotency-key': uniqueName('key') };
    const identity = uniqueName();
    const params = `{"name":"leave_trace","arguments":${traceBody(identity)}}`;
    for (let count = 0; count < 2; count += 1) await ask(gateway, 'tools/call', params, headers);
    assert.equal((await gateway.by(identity)).length, 1);
  }),
  check('18.3', 'further', async (gateway) => {
    const identity = uniqueName();
    const required = `"text":"t","identity":"${identity}","identityType":"x"`;
    const further = '"n":1.5,"deep":{"a":[1]}';
    for (const given of [
      `{${required},"furtherMembers":${JSON.stringify(`{${further}}`)}}`,
      `{${required},"furtherMembers":{${further}},"idempotencyKey":null}`,
    ]) {
      const { own } = await call(gateway, 'leave_trace', given);
      const entry = await gateway.read(asString(own['path']));
      assert.equal(entry.body, `${required},${further}`);
    }
    for (const wrong of ['"[1]"', '"{"', '7', '[]']) {
      const refused = await call(gateway, 'leave_trace', `{${required},"furtherMembers":${wrong}}`);
      assert.match(refused.texts[0] ?? '', /^invalid-entry: .*"furtherMembers"/);
    }
  }),
  check('18.3', 'companions', async (gateway) => {
    const thing = uniqueName('thing');
    const other = uniqueName();
    const alone = await done(gateway, 'first_contact', { ai_identity: other, seeking: [thing] });
    assert.equal(alone.texts.length, 1);
    assert.ok(alone.texts[0]?.includes(`presence://entries/${asString(alone.own['id'])}`));
    const met = await done(gateway, 'first_contact', {
      ai_identity: uniqueName(),
      seeking: [thing],
    });
    const [companion] = said(met);
    assert.equal(companion?.['ai_identity'], other);
    const byHttp = await gateway.post('resonance', contactBody(uniqueName(), []));
    assert.equal(met.texts[0]?.split('\n')[0], asNonBlank(byHttp.expect(201).json['welcome']));
    const next = asArray(met.own['next']).map(asObject);
    assert.ok(next.length > 0);
    for (const step of next) {
      await done(gateway, asString(step['tool']), asObject(step['arguments']));
    }
    apart(met, other);
  }),
  check('18.4', 'apart', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity, { n: 1 }));
    const read = await done(gateway, 'read', { from: identity });
    apart(read, identity);
    assert.equal(read.texts.join('').split(identity).length, 2, 'once');
    const one = await done(gateway, 'get_entry', { id: entry.id });
    apart(one, identity);
    assert.equal(one.lines.join('\n'), entry.text, 'letter by letter');
    for (const uri of [`presence://entries/${entry.id}`, `presence://rooms/${entry.room}`]) {
      const { result } = await ask(gateway, 'resources/read', JSON.stringify({ uri }));
      const texts = asArray(asObject(result)['contents']).map((part) =>
        asString(asObject(part)['text']),
      );
      assert.equal(texts[1]?.split('\n')[0], one.texts[1]?.split('\n')[0], uri);
    }
  }),
  check('18.5', 'pieces', async (gateway) => {
    const { entry } = await gateway.contribute(
      'seeds',
      traceBody(uniqueName(), { long: 'їжак 🦔 '.repeat(15_000) }),
    );
    const pieces: string[] = [];
    for (let next: unknown = { id: entry.id }; next !== null;) {
      const piece: Result = await done(gateway, 'get_entry', asObject(next));
      assert.ok(asInteger(piece.own['bytes']) > 64 * 1024);
      pieces.push(piece.lines.join('\n'));
      ({ next } = piece.own);
    }
    assert.ok(pieces.length > 1);
    assert.ok(pieces.join('') === (await gateway.read(entry.path)).text);
  }),
  check('18.5', 'shortened', async (gateway) => {
    const identity = uniqueName();
    const deep = `{"identity":"${identity}","deep":${'['.repeat(600)}${']'.repeat(600)}}`;
    const seqs = [
      (await gateway.contribute('shepit', traceBody(identity, { long: 'x'.repeat(17_000) }))).entry
        .seq,
      (await gateway.contribute('shepit', deep)).entry.seq,
    ];
    const page = await done(gateway, 'read', { from: identity });
    const shortened = asArray(page.own['shortened']).map((one) => asObject(one)['seq']);
    assert.deepEqual(shortened, seqs.toReversed());
    for (const one of said(page)) assert.equal(Object.keys(one).length, 4);
  }),
  check('18.6', 'errors', async (gateway) => {
    for (const [kind, name] of Object.entries(SAYING)) {
      const given = '{"to":[1],"room":"no-such-room"}';
      const { isError, texts, own } = await call(gateway, name, given);
      const answer = (await gateway.request('POST', `/api/${kind}`, {}, given)).expect(422);
      assert.ok(isError);
      const { detail, faults, ...others } = answer.json;
      const places = asArray(faults).map((fault) => ({ pointer: asObject(fault)['pointer'] }));
      assert.deepEqual(own, { ...others, faults: places });
      const [sentence, _, ...more] = texts.join('\n').split('\n');
      assert.equal(sentence, `${asString(answer.json['code'])}: ${asString(detail)}`);
      assert.deepEqual(more, []);
      const example = members(answer.text).find((member) => member.name === 'example');
      assert.equal((await call(gateway, name, example?.value ?? '')).isError, false);
    }
    const noWords = await call(gateway, 'search', '{}');
    assert.ok(noWords.isError);
    assert.ok(noWords.texts.every((text) => !text.includes('/api/')));
    const { example } = noWords.own;
    assert.equal((await done(gateway, 'search', asObject(example))).isError, false);
    const { error } = await ask(gateway, 'tools/call', '{"name":"no_such_tool"}');
    assert.equal(asObject(error)['code'], -32_602);
  }),
  check('18.6', 'resources', async (gateway) => {
    const uri = 'presence://rooms/no-such-room';
    const { error } = await ask(gateway, 'resources/read', JSON.stringify({ uri }));
    const { code, known } = asObject(asObject(error)['data']);
    assert.equal(code, 'unknown-room');
    assert.deepEqual(known, await gateway.rooms());
  }),
  check('18.7', 'resources', async (gateway) => {
    const { result } = await ask(gateway, 'resources/list', '{}');
    const uris = asArray(asObject(result)['resources']).map((one) => asObject(one)['uri']);
    for (const slug of await gateway.rooms()) assert.ok(uris.includes(`presence://rooms/${slug}`));
    const uri = 'presence://language';
    const read = await ask(gateway, 'resources/read', JSON.stringify({ uri }));
    const [content] = asArray(asObject(read['result'])['contents']).map(asObject);
    assert.equal(content?.['text'], (await gateway.get('/mova-snu.yaml')).text);
  }),
  check('18.7', 'prompts', async (gateway) => {
    for (const name of ['first_visit', 'tend_garden']) {
      const { result } = await ask(gateway, 'prompts/get', JSON.stringify({ name }));
      asNonBlank(asObject(asObject(asArray(asObject(result)['messages'])[0])['content'])['text']);
    }
  }),
  check('18.10', 'events', async (gateway) => {
    const { result } = await ask(gateway, 'events/list', '{}');
    const types = asArray(asObject(result)['events']).map(asObject);
    assert.deepEqual(pluck(types, 'name'), ['entry', 'concerns', 'first_contact']);
    for (const { delivery } of types) assert.deepEqual(delivery, ['poll', 'push']);
    const poll = async (name: string, given: object, cursor?: unknown): Promise<JsonObject> => {
      const params = JSON.stringify({ name, arguments: given, cursor });
      return asObject((await ask(gateway, 'events/poll', params))['result']);
    };
    const identity = uniqueName();
    const { events: none, cursor } = await poll('entry', { identity });
    assert.deepEqual(none, []);
    const own = (await gateway.contribute('garden', traceBody(identity))).entry;
    const answer = traceBody(uniqueName(), { inReplyTo: own.id });
    const reply = (await gateway.contribute('garden', answer)).entry;
    for (const [name, id] of [
      ['entry', own.id],
      ['concerns', reply.id],
    ] as const) {
      const { events, ...told } = await poll(name, { identity }, cursor);
      assert.deepEqual(
        asArray(events).map((event) => asObject(event)['eventId']),
        [id],
      );
      const again = await poll(name, { identity }, told['cursor']);
      assert.deepEqual([again['events'], again['truncated']], [[], false]);
    }
    const { error } = await ask(gateway, 'events/poll', '{"name":"nothing"}');
    assert.equal(asObject(error)['code'], -32_011);
    const stray = await ask(gateway, 'events/poll', '{"name":"entry","arguments":{"rooms":"x"}}');
    assert.equal(asObject(stray['error'])['code'], -32_602);
  }),
];
