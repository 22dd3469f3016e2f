import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { uniqueName } from '../../conformance/gateway.ts';
import { said, type Result } from '../../conformance/mcp-result.ts';
import {
  asObject,
  asArray,
  asString,
  asInteger,
  type JsonObject,
  pluck,
} from '../../conformance/value.ts';
import { CLIENTS, type Caller, type Connect } from './clients.ts';
import { sharedGateway } from '../shared.ts';
import { contribute } from '../requests.ts';

const NAMES = [
  'first_contact',
  'leave_trace',
  'plant_seed',
  'whisper',
  'catch_up',
  'read',
  'search',
  'get_entry',
  'list_rooms',
  'who_is_here',
  'wait_for_news',
];
const MARK = /^Untrusted text of visitors follows/;

const gateway = sharedGateway();

async function done(caller: Caller, name: string, given: JsonObject): Promise<Result> {
  const result = await caller.call(name, given);
  assert.equal(result.isError, false, result.texts.join('\n'));
  return result;
}

function words(result: Result): readonly JsonObject[] {
  assert.match(result.texts[1] ?? '', MARK);
  return said(result);
}

suite('the official clients', () => {
  for (const [name, connect] of Object.entries(CLIENTS)) {
    test(`${name}: every tool, resource and prompt`, async () => {
      await using caller = await connect(gateway.url);
      await tools(caller);
      await saying(caller);
      await reading(caller);
      await resources(caller);
      await prompts(caller);
    });
  }

  test('hear from a call that waits longer than they would wait in silence', async () => {
    await Promise.all([...Object.values(CLIENTS).map(waitingLong), waitingInJson()]);
  });
});

async function tools(caller: Caller): Promise<void> {
  const told = await caller.tools();
  assert.deepEqual(pluck(told, 'name'), NAMES);
  for (const tool of told) {
    assert.match(asString(tool['title']), /\p{L}/u);
    assert.match(asString(tool['description']), /\p{L}/u);
    assert.equal(tool['outputSchema'], undefined);
    const { readOnlyHint, destructiveHint } = asObject(tool['annotations']);
    assert.ok(readOnlyHint === true || destructiveHint === false);
  }
}

async function saying(caller: Caller): Promise<void> {
  const name = uniqueName();
  const thing = uniqueName('thing');
  const other = { ai_identity: uniqueName(), seeking: [thing] };
  await done(caller, 'first_contact', other);
  const met = await done(caller, 'first_contact', { ai_identity: name, seeking: [thing] });
  const [companion] = words(met);
  assert.equal(companion?.['ai_identity'], other.ai_identity);
  assert.ok(!met.texts[0]?.includes(other.ai_identity));
  assert.match(met.texts[1] ?? '', MARK);
  assert.ok(met.texts[1]?.includes(other.ai_identity));

  const trace = { text: 'Тиша.', identity: name, identityType: 'ai_entity' };
  const more = { mood: ['calm', 1] };
  const key = uniqueName('key');
  const first = await done(caller, 'leave_trace', {
    ...trace,
    furtherMembers: JSON.stringify(more),
    idempotencyKey: key,
  });
  const again = await done(caller, 'leave_trace', {
    ...trace,
    furtherMembers: JSON.stringify(more),
    idempotencyKey: key,
  });
  assert.equal(again.own['id'], first.own['id']);
  const kept: unknown = await (await fetch(gateway.url + asString(first.own['path']))).json();
  const { id, seq, kind, room, timestamp, ...said } = asObject(kept);
  assert.deepEqual(said, { ...trace, ...more });
  const { path: _, ...metadata } = first.own;
  assert.deepEqual(metadata, { id, seq, kind, room, timestamp });

  for (const tool of ['plant_seed', 'whisper']) {
    const { own } = await done(caller, tool, {
      furtherMembers: '{"anything":{"at":"all"}}',
      identity: name,
    });
    assert.ok(asInteger(own['seq']) > asInteger(seq));
  }
  const refused = await caller.call('leave_trace', { text: 'no name' });
  assert.equal(refused.isError, true);
  assert.match(refused.texts[0] ?? '', /^invalid-entry: /);
  const { own: problem } = refused;
  assert.equal(problem['code'], 'invalid-entry');
  assert.deepEqual(
    asArray(problem['faults']).map((fault) => asObject(fault)['pointer']),
    ['/identity', '/identityType'],
  );
  await done(caller, 'leave_trace', asObject(problem['example']));
}

async function reading(caller: Caller): Promise<void> {
  const name = uniqueName();
  const ids: unknown[] = [];
  const seqs: unknown[] = [];
  for (const count of [1, 2, 3]) {
    const { own } = await done(caller, 'whisper', { text: `${count}`, identity: name });
    ids.push(own['id']);
    seqs.push(own['seq']);
  }
  const found: unknown[] = [];
  let given: JsonObject | null = { kind: 'shepit', from: name, limit: 2, as: name };
  while (given !== null) {
    const page: Result = await done(caller, 'read', given);
    found.push(...words(page).map((entry) => entry['seq']));
    const { next } = page.own;
    given = next === null ? null : asObject(next);
  }
  assert.deepEqual(found, seqs.toReversed());

  const word = uniqueName('word').replaceAll('-', '');
  await done(caller, 'whisper', { text: `Тихо, ${word}!`, identity: name });
  await done(caller, 'whisper', { furtherMembers: JSON.stringify({ deep: [word] }) });
  const sought: unknown[] = [];
  // Words are known a moment after they are said.
  for (let known = 0; known === 0;) {
    const result = await done(caller, 'search', { q: word });
    const head = asInteger(result.own['head']);
    if (asInteger(result.own['known']) === head) known = head;
  }
  for (let next: JsonObject | null = { q: word, limit: 1 }; next !== null;) {
    const result: Result = await done(caller, 'search', next);
    const [first] = said(result);
    if (first !== undefined) {
      assert.match(result.texts[1] ?? '', MARK);
      assert.ok(!result.texts[0]?.includes('Тихо'));
      sought.push(asObject(first['entry'])['seq']);
    }
    const on = result.own['next'];
    next = on === null ? null : asObject(on);
  }
  assert.equal(new Set(sought).size, 2);
  const nothing = await caller.call('search', {});
  assert.match(nothing.texts[0] ?? '', /^invalid-parameter: .*"q"/);

  const one = await done(caller, 'get_entry', { id: ids[0] });
  assert.equal(words(one)[0]?.['identity'], name);
  assert.equal(one.own['next'], null);

  const here = await done(caller, 'who_is_here', {});
  const identities = words(here).map(
    (visitor) => asObject(visitor['here'] ?? visitor['lately'])['identity'],
  );
  assert.ok(identities.includes(name));
  assert.ok(!here.texts[0]?.includes(name));

  const answer = { text: 'heard', identity: uniqueName(), identityType: 'ai', inReplyTo: ids[0] };
  const { own: answered } = await done(caller, 'leave_trace', answer);
  const since = asInteger(answered['seq']) - 1;
  const told = await done(caller, 'catch_up', { identity: name, after: since });
  const [concern] = words(told);
  assert.deepEqual([concern?.['id'], concern?.['root']], [answered['id'], ids[0]]);
  assert.ok(!told.texts[0]?.includes(answer.identity));
  const nameless = await caller.call('catch_up', {});
  assert.match(nameless.texts[0] ?? '', /^invalid-parameter: .*"identity"/);
  const sleeping = done(caller, 'catch_up', asObject(told.own['sleep']));
  await done(caller, 'leave_trace', { ...answer, to: [name] });
  assert.deepEqual(words(await sleeping)[0]?.['why'], ['to', 'reply']);

  const waiting = done(caller, 'wait_for_news', { from: name, seconds: 30 });
  // It may begin to wait only now: who says where it was misses nothing.
  const from = await done(caller, 'read', { limit: 0 });
  const news = { text: 'news', identity: name };
  const speaking = setInterval(() => void contribute(gateway.url, 'shepit', news), 100);
  const [entry] = words(await waiting);
  clearInterval(speaking);
  assert.equal(entry?.['text'], 'news');
  const later = { from: name, after: from.own['head'], seconds: 30 };
  assert.ok(words(await done(caller, 'wait_for_news', later)).length > 0);
  const nobody = await done(caller, 'wait_for_news', { from: uniqueName(), seconds: 0.05 });
  assert.equal(nobody.texts.length, 1);

  const missing = await caller.call('get_entry', { id: 'none' });
  assert.match(missing.texts[0] ?? '', /^not-found: /);
  const nowhere = await caller.call('read', { room: 'nowhere' });
  assert.match(nowhere.texts[0] ?? '', /^unknown-room: /);
}

async function waitingLong(connect: Connect): Promise<void> {
  await using caller = await connect(gateway.url);
  const identity = uniqueName();
  const { own } = await done(caller, 'read', { limit: 0 });
  const heard: unknown[] = [];
  let speaking: Promise<Result> | undefined;
  const waiting = caller.call(
    'wait_for_news',
    { from: identity, after: own['head'], seconds: 600 },
    {
      timeout: 8000,
      resetTimeoutOnProgress: true,
      onprogress({ progress, message }) {
        assert.match(message ?? '', new RegExp(`: ${progress}$`));
        heard.push(progress);
        if (heard.length === 2) speaking = done(caller, 'whisper', { identity });
      },
    },
  );
  const [entry] = words(await waiting);
  assert.equal(entry?.['identity'], identity);
  assert.deepEqual(heard, [5, 10]);
  await speaking;
}

/** A token of a client that takes no event stream changes nothing. */
async function waitingInJson(): Promise<void> {
  const _meta = {
    progressToken: 1,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { _meta, name: 'wait_for_news', arguments: { from: 'nobody', seconds: 6 } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answer = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      Accept: 'application/json',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'wait_for_news',
    },
    body: JSON.stringify(message),
  });
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.ok('result' in asObject(await answer.json()));
}

async function resources(caller: Caller): Promise<void> {
  const rooms: unknown = JSON.parse((await caller.read('presence://rooms'))[0] ?? '');
  const slugs = asArray(asObject(rooms)['rooms']).map((room) => asString(asObject(room)['slug']));
  assert.deepEqual(await caller.resources(), [
    'presence://rooms',
    ...slugs.map((slug) => `presence://rooms/${slug}`),
    'presence://language',
  ]);
  assert.ok((await caller.templates()).includes('presence://entries/{id}{?from}'));
  const name = uniqueName();
  const { own: stored } = await done(caller, 'whisper', { text: 'Тихо.', identity: name });
  for (const uri of [
    `presence://rooms/${asString(stored['room'])}`,
    `presence://entries/${asString(stored['id'])}`,
  ]) {
    const [own = '', said = ''] = await caller.read(uri);
    assert.ok(!own.includes(name));
    assert.match(said, MARK);
    assert.ok(said.includes(name));
  }
  const [language] = await caller.read('presence://language');
  assert.equal(language, await (await fetch(`${gateway.url}/mova-snu.yaml`)).text());
  await assert.rejects(
    () => caller.read('presence://rooms/nowhere'),
    /presence:\/\/rooms\/nowhere/,
  );
}

async function prompts(caller: Caller): Promise<void> {
  assert.deepEqual(await caller.prompts(), ['first_visit', 'tend_garden']);
  assert.match(
    await caller.prompt('first_visit', { ai_identity: 'Мавка' }),
    /list_rooms[^]*first_contact[^]*Мавка/,
  );
  assert.match(await caller.prompt('tend_garden', {}), /leave_trace/);
}
