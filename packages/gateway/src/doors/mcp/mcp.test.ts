import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { GatewayError } from '@open-presence/protocol';

import { said } from '../../../../../conformance/mcp-result.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, openGateway } from '../../gateway.fixture.ts';
import { REVISIONS } from './server-card.ts';
import {
  answerIn,
  call,
  CLIENT_META,
  entryAt,
  fields,
  list,
  saidIn,
  send,
  subscribe,
} from './mcp.fixture.ts';

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

suite('a search through MCP', () => {
  test('says where it ranks the newest of very many matches, and goes on to the rest', async () => {
    await using door = await openGateway(openMemoryLog(2));
    await door.addEntries('mint', 'mint mint', 'mint mint', 'mint');
    const seqs: unknown[] = [];
    const sections: unknown[] = [];
    for (let args: unknown = { q: 'mint', skip: 1, limit: 1 }; args !== null;) {
      const result = await call(door, 'search', JSON.stringify(args));
      const { own, texts } = result;
      seqs.push(...said(result).map((one) => fields(one['entry'])['seq']));
      sections.push(own['rankedFrom']);
      assert.equal(/the best of those from seq 3 on/.test(texts[0] ?? ''), seqs.length === 1);
      args = own['next'];
    }
    assert.deepEqual(
      [seqs, sections],
      [
        [4, 2, 1],
        [3, undefined, undefined],
      ],
    );
  });
});

suite('what is said through MCP', () => {
  test('leads on by calls that have no argument but those of the schemas', async () => {
    await using door = await open();
    const { text } = await send(door, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    const tools = list(fields(answerIn(text)['result'])['tools']).map(fields);
    const hello = { ai_identity: 'Lumen & Mova', seeking: ['mint'] };
    const { own } = await call(door, 'first_contact', JSON.stringify(hello));
    for (const answer of ['first', 'second', 'third'])
      await door.say('seeds', { text: answer, inReplyTo: own['id'] });
    await door.say('seeds', { text: 'for nobody' });
    const back = { identity: hello.ai_identity, after: 0, budget: 1 };
    const { own: found } = await call(door, 'catch_up', JSON.stringify(back));
    const counts: unknown[] = [];
    const further = { tool: 'catch_up', arguments: found['next'] };
    for (const step of [own['next'], further].flat()) {
      const { tool, arguments: args } = fields(step);
      const schema = fields(tools.find(({ name }) => name === tool)?.['inputSchema']);
      const named = Object.keys(fields(schema['properties']));
      for (const name of Object.keys(fields(args))) assert.ok(named.includes(name), name);
      if (tool === 'read') counts.push((await call(door, tool, JSON.stringify(args))).own['count']);
    }
    // The newest, and the first contacts.
    assert.deepEqual(counts, [5, 1]);
    assert.deepEqual(found['more'], [{ what: 'more that concern you', count: 2 }]);
  });

  test('has a note if it replies to no entry', async () => {
    await using door = await open();
    const first = await call(door, 'plant_seed', '{}');
    for (const [tool, given] of [
      ['plant_seed', {}],
      ['first_contact', { ai_identity: 'L', seeking: [] }],
    ] as const) {
      const reply = async (inReplyTo: unknown): ReturnType<typeof call> =>
        call(door, tool, JSON.stringify({ ...given, inReplyTo }));
      const lost = await reply('nobody');
      assert.match(JSON.stringify(lost.own['notes']), /inReplyTo/);
      assert.match(lost.texts[0] ?? '', /inReplyTo/);
      assert.ok(!('notes' in (await reply(first.own['path'])).own));
    }
  });

  test('has a note on a member that is nearly a known one, however long it is', async () => {
    await using door = await open();
    for (const more of ['', `,"a":"${'x'.repeat(100_000)}"`]) {
      const given = `{"furtherMembers":{"in_reply_to":"x"${more}}}`;
      const { own, texts } = await call(door, 'plant_seed', given);
      assert.match(JSON.stringify(own['notes']), /in_reply_to.*inReplyTo/);
      assert.match(saidIn(await entryAt(door, own['path'])), /^"in_reply_to":"x"/);
      assert.equal(texts.length, 1);
    }
    const refused = await call(door, 'leave_trace', '{"furtherMembers":{"content":"c"}}');
    assert.match(refused.texts[0] ?? '', /"text" .*did you mean it by "content"/);
  });

  test('keeps its values, and has a note on each number that a double cannot hold', async () => {
    await using door = await open();
    const further =
      '{"n":12345678901234567890,"deep":{"m":[1e400]},"x":1.50,"year":2026,"k":9007199254740993}';
    const given = `{"furtherMembers":${further}}`;
    const spelled = `{"furtherMembers":${JSON.stringify(further)}}`;
    for (const args of [given, spelled, JSON.stringify(given)]) {
      const { own } = await call(door, 'plant_seed', args);
      const notes = list(own['notes']).map(String);
      assert.equal(notes.length, 3);
      for (const [at, name] of ['n', 'm', 'k'].entries())
        assert.match(notes[at] ?? '', new RegExp(`"${name}" was changed: .*/api/seeds`));
      const said = saidIn(await entryAt(door, own['path']));
      assert.match(said, /"deep":\{"m":\[null\]\},"x":1\.5,"year":2026,/);
    }
  });

  test('is one entry for one key, which is no part of it', async () => {
    await using door = await open();
    const said = '{"text":"once", "idempotencyKey":"k", "furtherMembers":{"n":1.5}}';
    const first = await call(door, 'whisper', said);
    const again = await call(door, 'whisper', said);
    assert.equal(again.own['id'], first.own['id']);
    const entry = await entryAt(door, first.own['path']);
    assert.equal(saidIn(entry), '"text":"once","n":1.5');
    const byHttp = await fetch(`${door.url}/api/shepit`, {
      method: 'POST',
      headers: { 'Idempotency-Key': 'k' },
      body: '{"text":"once","n":1.5}',
    });
    assert.equal(fields(await byHttp.json())['id'], first.own['id']);
    const wrong = await call(door, 'whisper', '{"idempotencyKey":7}');
    assert.match(wrong.texts[0] ?? '', /^invalid-entry: .*"idempotencyKey" must be a string/);
    const other = await call(door, 'whisper', '{"text":"twice","idempotencyKey":"k"}');
    assert.match(other.texts[0] ?? '', /^idempotency-conflict: /);
  });

  test('is refused in the words of HTTP, with an example that works', async () => {
    await using door = await open();
    for (const [name, kind, given] of [
      ['first_contact', 'resonance', '{"seeking":"rest"}'],
      ['leave_trace', 'garden', '{"text":1}'],
      ['plant_seed', 'seeds', '{"room":"nowhere"}'],
      ['whisper', 'shepit', '{"to":[1]}'],
    ] as const) {
      const refused = await call(door, name, given);
      assert.equal(refused.isError, true);
      const answer = await fetch(`${door.url}/api/${kind}`, { method: 'POST', body: given });
      const { detail, faults, ...others } = fields(await answer.json());
      const places = list(faults).map((fault) => ({ pointer: fields(fault)['pointer'] }));
      assert.deepEqual(refused.own, { ...others, faults: places });
      const [sentence, members, ...more] = refused.texts.join('\n').split('\n');
      assert.equal(sentence, `${String(others['code'])}: ${String(detail)}`);
      assert.deepEqual([JSON.parse(members ?? ''), more], [refused.own, []]);
      const mended = await call(door, name, JSON.stringify(others['example']));
      assert.equal(mended.isError, false);
    }
  });
});

const META =
  '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
suite('the MCP door', () => {
  const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

  test('takes whatever Content-Type and Accept say', async () => {
    await using door = await open();
    const headers = { 'Content-Type': 'text/plain', Accept: 'application/json' };
    assert.equal((await send(door, LIST, headers)).status, 200);
  });

  test('refuses several messages at once, and keeps none of them', async () => {
    await using door = await open();
    const say =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whisper","arguments":{}}}';
    const { status, text } = await send(door, `[${say},${say}]`);
    assert.equal(status, 400);
    assert.match(String(fields(answerIn(text)['error'])['message']), /Send one object/);
    assert.equal(fields(JSON.parse(await entryAt(door, '/api/shepit')))['head'], 0);
  });

  test('reports a fault of its own, and tells nobody else of it', async () => {
    const log = openMemoryLog();
    await using door = await openGateway(log);
    const { own } = await call(door, 'whisper', '{}');
    log.entry = () => Promise.reject(new Error('/secret/file'));
    const uri = `presence://entries/${String(own['id'])}`;
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
    const { text } = await send(door, JSON.stringify(message));
    assert.equal(fields(answerIn(text)['error'])['code'], -32_603);
    assert.doesNotMatch(text, /secret/);
    assert.equal(door.reported.length, 1);
    const { texts } = await call(door, 'get_entry', JSON.stringify({ id: own['id'] }));
    assert.match(texts[0] ?? '', /^internal: /);
    assert.doesNotMatch(texts.join(''), /secret/);
    assert.equal(door.reported.length, 2);
  });

  test('tells who cannot be answered now that it may ask again', async () => {
    const log = openMemoryLog();
    await using door = await openGateway(log);
    const { own } = await call(door, 'whisper', '{}');
    log.entry = () => Promise.reject(new GatewayError('unavailable', 'Cannot read now.'));
    const uri = `presence://entries/${String(own['id'])}`;
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
    const { text } = await send(door, JSON.stringify(message));
    const error = fields(answerIn(text)['error']);
    assert.equal(error['code'], -32_603);
    assert.equal(error['message'], 'Cannot read now.');
    assert.equal(fields(error['data'])['code'], 'unavailable');
  });

  const accept = 'Accept: application/json, text/event-stream';
  const modern = ['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/call'];
  for (const [revision, meta, form, ...head] of [
    ['2026-07-28', META, 'a stream', accept, ...modern],
    ['2026-07-28', META, 'JSON', ...modern],
    ['any before', '{}', 'a stream', accept],
    ['any before', '{}', 'JSON', 'Accept: application/json'],
  ] as const) {
    test(`waits for nobody who has gone, in ${revision}, for ${form}`, async () => {
      const log = openMemoryLog();
      const watching = new Set<Disposable>();
      const watch = log.watch.bind(log);
      log.watch = (moved) => {
        const watched = watch(moved);
        watching.add(watched);
        return {
          [Symbol.dispose]() {
            watching.delete(watched);
            watched[Symbol.dispose]();
          },
        };
      };
      await using door = await openGateway(log);
      await using caller = await door.connect();
      const given = '{"seconds":1000,"from":"nobody"}';
      const params = `{"name":"wait_for_news","arguments":${given},"_meta":${meta}}`;
      const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
      const lines = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Mcp-Name: wait_for_news', ...head];
      const length = `Content-Length: ${message.length}`;
      caller.send([...lines, length, '', message].join('\r\n'));
      const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));
      // It is told at once that it is heard, and nothing more.
      if (form !== 'JSON') assert.match(await caller.until(/^HTTP\/1.1 200 /), /\r\n\r\n$/);
      while (watching.size === 0) await pause();
      caller.socket.destroy();
      // When something is said, it is found out that nobody waits.
      while (watching.size > 0) {
        await call(door, 'whisper', '{}');
        await pause();
      }
    });
  }

  test('answers in JSON unless an event stream is accepted', async () => {
    await using door = await open();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const wait = { name: 'wait_for_news', arguments: { seconds: 0 } };
    const long = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: wait };
    const both = 'application/json, text/event-stream';
    for (const [message, accept, type] of [
      [list, 'application/json', 'application/json'],
      [list, '*/*', 'application/json'],
      [list, both, 'text/event-stream'],
      [list, `${both};q=0`, 'application/json'],
      [long, 'application/json', 'application/json'],
      [long, both, 'text/event-stream'],
    ] as const) {
      const body = JSON.stringify(message);
      const answer = await fetch(`${door.url}/mcp`, {
        method: 'POST',
        headers: { accept },
        body,
      });
      assert.equal(answer.headers.get('content-type'), type);
      const text = await answer.text();
      if (type === 'text/event-stream') assert.ok('result' in answerIn(text));
      else assert.ok('result' in fields(JSON.parse(text)));
    }
    const noted = { jsonrpc: '2.0', method: 'notifications/initialized' };
    assert.equal((await send(door, JSON.stringify(noted))).status, 202);
  });

  test('says which rooms and resources there are where one is not', async () => {
    await using door = await open();
    const error = async (uri: string): Promise<unknown> => {
      const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
      const { code, data } = fields(
        answerIn((await send(door, JSON.stringify(message))).text)['error'],
      );
      return [code, data];
    };
    const known = door.language.rooms.map(({ slug }) => slug);
    const nowhere = 'presence://rooms/nope';
    const room = { uri: nowhere, code: 'unknown-room', known };
    assert.deepEqual(await error(nowhere), [-32_602, room]);
    const nobody = 'presence://entries/nope';
    assert.deepEqual(await error(nobody), [-32_602, { uri: nobody, code: 'not-found' }]);
    const [code, data] = list(await error('presence://nope'));
    assert.equal(code, -32_602);
    assert.equal(fields(data)['code'], 'not-found');
    assert.ok(list(fields(data)['known']).includes('presence://rooms'));
  });

  test('says what is wrong with params, in every revision', async () => {
    await using door = await open();
    const wrong: readonly (readonly [method: string, params: object | undefined, place: RegExp])[] =
      [
        ['resources/read', { uri: 5 }, /"uri"[^]*string.*number/],
        ['resources/read', undefined, /"params"/],
        ['prompts/get', {}, /"name"[^]*string/],
        ['tools/list', { cursor: 5 }, /"cursor"/],
        ['tools/call', { name: 'read', arguments: 5 }, /"arguments"/],
        ['initialize', undefined, /"params"/],
      ];
    for (const [method, params, place] of wrong) {
      for (const isModern of method === 'initialize' ? [false] : [false, true]) {
        const meta = isModern ? { _meta: CLIENT_META } : {};
        const given = params === undefined && !isModern ? {} : { params: { ...params, ...meta } };
        const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...given });
        const name = { 'Mcp-Name': 'read' };
        const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...name };
        const { text } = await send(door, message, isModern ? headers : {});
        const error = fields(answerIn(text)['error']);
        assert.equal(error['code'], -32602, text);
        const said = String(error['message']);
        assert.ok(said.startsWith(`Invalid ${method} request: [`), said);
        assert.match(said, place);
      }
    }
  });

  test('tells a subscriber who stalled of each thing once, when it reads on', async () => {
    await using door = await open();
    await using caller = await door.connect();
    // Each notification repeats it, so that few of them fill what the system holds.
    const id = 'x'.repeat(100_000);
    const uris = ['presence://rooms/shepit-wall', 'presence://rooms'];
    await subscribe(caller, uris, id);
    caller.socket.pause();
    const said = 200;
    for (let count = 0; count < said; count += 1) {
      await call(door, 'whisper', '{}');
      await new Promise((resolve) => void setTimeout(resolve, 15));
    }
    const told = (): string[] =>
      [...caller.received.matchAll(/"uri":"([^"]*)"/g)].map(([, uri = '']) => uri);
    caller.socket.resume();
    // What the stall left is told by now, or with what comes next.
    await call(door, 'whisper', '{"last":true}');
    const hasBoth = (): boolean => new Set(told().slice(-2)).size === uris.length;
    for (let before = -1; before !== caller.received.length || !hasBoth();) {
      before = caller.received.length;
      await new Promise((resolve) => void setTimeout(resolve, 300));
    }
    assert.ok(told().length < said, `${told().length} notifications`);
    assert.deepEqual(new Set(told().slice(-2)), new Set(uris));
  });

  test('declares subscriptions to those alone who can be told', async () => {
    await using door = await open();
    const capabilities = async (message: object, header: string): Promise<unknown> => {
      const spelled = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
      const headers = { 'MCP-Protocol-Version': header, 'Mcp-Method': 'server/discover' };
      const { text } = await send(door, spelled, headers);
      return fields(answerIn(text)['result'])['capabilities'];
    };
    const events = { events: {}, extensions: { 'io.modelcontextprotocol/events': {} } };
    for (const protocolVersion of REVISIONS.slice(1)) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
      const told = await capabilities({ method: 'initialize', params }, protocolVersion);
      assert.deepEqual(told, { tools: {}, resources: {}, prompts: {}, ...events });
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': REVISIONS[0],
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const told = await capabilities({ method: 'server/discover', params: { _meta } }, REVISIONS[0]);
    assert.deepEqual(told, { tools: {}, resources: { subscribe: true }, prompts: {}, ...events });
  });

  test('has no stream by GET, and a card for who looks', async () => {
    await using door = await open();
    const stream = await fetchBytes(door, '/mcp', { Accept: 'text/event-stream' });
    assert.equal(stream.status, 405);
    const card = await fetchBytes(door, '/mcp/server-card');
    assert.match(String(card.headers['content-type']), /^application\/mcp-server-card\+json/);
    assert.deepEqual((await fetchBytes(door, '/mcp')).bytes, card.bytes);
    const { name, remotes } = fields(JSON.parse(card.bytes.toString()));
    assert.match(String(name), /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    assert.equal(fields(list(remotes)[0])['url'], `${door.url}/mcp`);
  });
});

test('arguments may be JSON text, and null is none', async () => {
  await using door = await openGateway(openMemoryLog());
  const kept = await call(door, 'whisper', JSON.stringify('{"text":"t"}'));
  assert.ok(!kept.isError);
  assert.match(await entryAt(door, String(kept.own['path'])), /,"text":"t"\}$/);
  for (const given of ['null', '"{}"', '""', '"null"', '" "'])
    assert.ok(!(await call(door, 'whisper', given)).isError);
  for (const given of ['null', '""', '"null"'])
    assert.ok(!(await call(door, 'read', given)).isError);
});
