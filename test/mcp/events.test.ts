// MCP Events: as the client of the AI SDK knows them, by asking again, and as a stream.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';

import { createMCPClient } from '@ai-sdk/mcp';
import { Gateway, type Stored } from '@open-presence/client';

import { uniqueName } from '../../conformance/gateway.ts';
import {
  asArray,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../conformance/value.ts';
import { contribute } from '../requests.ts';
import { sharedGateway } from '../shared.ts';
import { COMMAND } from '../command.ts';

const gateway = sharedGateway();

const trace = async (identity: string, text: string): Promise<Stored<'garden'>> =>
  await new Gateway(gateway.url, { identity }).leaveTrace(text);

function request(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 's1', method, params });
}

async function send(method: string, params: JsonObject): Promise<JsonObject> {
  const body = request(method, params);
  const headers = { Accept: 'application/json' };
  const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', headers, body });
  return asObject(await answer.json());
}

async function poll(params: JsonObject): Promise<JsonObject> {
  return asObject((await send('events/poll', params))['result']);
}

/** The texts in what happened. */
function textsOf(events: unknown): unknown[] {
  return asArray(events).map((event) => {
    const { entry } = asObject(asObject(event)['data']);
    return asObject(entry)['text'];
  });
}

/** The messages of an open stream over HTTP. */
async function* streamed(params: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject> {
  const body = request('events/stream', params);
  const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body, signal });
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  let rest = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames)
      if (frame.startsWith('data: ')) yield asObject(parseJson(frame.slice('data: '.length)));
  }
}

/** The messages that the command relays. */
async function* relayed(params: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject> {
  const child = spawn(process.execPath, [COMMAND, 'mcp', '--url', gateway.url]);
  const gone = once(child, 'close');
  signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  child.stdin.write(`${request('events/stream', params)}\n`);
  for await (const line of createInterface(child.stdout)) yield asObject(parseJson(line));
  await gone;
}

suite('events of MCP', () => {
  test('are told to the AI SDK, which calls every tool as well', async () => {
    const store = {
      get: async () => undefined,
      getById: async () => undefined,
      set: async () => {},
      update: async () => {},
      delete: async () => {},
    };
    const client = await createMCPClient({
      transport: { type: 'http', url: `${gateway.url}/mcp` },
      experimental_events: { store },
    });
    const { events } = await client.experimental_events.list();
    assert.deepEqual(
      events.map(({ name, delivery }) => [name, delivery]),
      ['entry', 'concerns', 'first_contact'].map((name) => [name, ['poll', 'push']]),
    );
    const identity = uniqueName();
    const { id } = await trace(identity, 'first');
    const given: Readonly<Record<string, JsonObject>> = {
      first_contact: { ai_identity: identity, seeking: ['tools'] },
      leave_trace: { text: 'by the AI SDK', identity, identityType: 'ai_entity' },
      whisper: { text: 'hush' },
      catch_up: { identity },
      search: { q: 'first' },
      get_entry: { id },
      wait_for_news: { seconds: 0 },
    };
    const tools = await client.tools();
    assert.ok(Object.keys(tools).length >= 11);
    for (const [name, tool] of Object.entries(tools)) {
      const options = { toolCallId: name, messages: [], context: undefined };
      const result = asObject(await tool.execute?.(given[name] ?? {}, options as never));
      assert.ok(result['isError'] !== true, `${name}: ${JSON.stringify(result)}`);
    }
    await client.close();
  });

  test('come once each, from cursor to cursor', async () => {
    const identity = uniqueName();
    const { cursor } = await poll({ name: 'entry', cursor: null });
    for (const text of ['one', 'two', 'three']) await trace(identity, text);
    await trace(uniqueName(), 'of another');
    const found: unknown[] = [];
    let next: unknown = cursor;
    for (let hasMore: unknown = true; hasMore === true;) {
      const args = { name: 'entry', arguments: { identity }, cursor: next, maxEvents: 2 };
      const { events, ...answer } = await poll(args);
      assert.equal(answer['truncated'], false);
      found.push(...textsOf(events));
      ({ cursor: next, hasMore } = answer);
    }
    assert.deepEqual(found, ['one', 'two', 'three']);
    const { events } = await poll({ name: 'entry', arguments: { identity }, cursor: next });
    assert.deepEqual(events, []);
  });

  test('are of one name, or of those who come', async () => {
    const [own, other, sought] = [uniqueName(), uniqueName(), uniqueName()];
    const { cursor } = await poll({ name: 'entry', cursor: null });
    const said = await trace(own, 'mine');
    const answering = new Gateway(gateway.url, { identity: other });
    await answering.reply(said, 'yours');
    await new Gateway(gateway.url, { identity: own }).reply(said, 'mine again');
    await contribute(gateway.url, 'shepit', { text: 'no contact', seeking: [sought] });
    await answering.firstContact({ seeking: [sought] });
    const concerns = await poll({ name: 'concerns', arguments: { identity: own }, cursor });
    assert.deepEqual(textsOf(concerns['events']), ['yours']);
    const contacts = await poll({ name: 'first_contact', arguments: { seeking: sought }, cursor });
    const [contact, ...others] = asArray(contacts['events']).map(asObject);
    assert.deepEqual(others, []);
    const { note, entry } = asObject(contact?.['data']);
    assert.equal(asObject(entry)['ai_identity'], other);
    assert.match(asString(note), /Untrusted/);
    assert.equal(contact?.['eventId'], asObject(entry)['id']);
  });

  test('are refused in words that help', async () => {
    for (const [params, code, message] of [
      [{ name: 'entries' }, -32_011, /There are entry, concerns, first_contact/],
      [{ name: 'entry', arguments: { rooms: 'x' } }, -32_602, /did you mean "room"\?/],
      [{ name: 'entry', arguments: { room: 5 } }, -32_602, /"room" must be a string/],
      [{ name: 'entry', arguments: { room: 'nowhere' } }, -32_602, /nowhere/],
      [{ name: 'concerns' }, -32_602, /"identity" must be the one name/],
      [{ name: 'entry', cursor: '999999999' }, -32_602, /"cursor" must be one from this log/],
      [{ name: 'entry', cursor: 'abc' }, -32_602, /"cursor" must be one from this log.*got "abc"/],
      [{ name: 'entry', arguments: 'room' }, -32_602, /"arguments" must be an object/],
      [{ name: 'entry', maxAgeMs: 'x' }, -32_602, /"maxAgeMs" must be a whole number from 0/],
      [{}, -32_602, /"name" must be one of entry, concerns, first_contact/],
    ] as const)
      for (const method of ['events/poll', 'events/stream']) {
        const error = asObject((await send(method, params))['error']);
        assert.equal(error['code'], code, `${method} ${JSON.stringify(params)}`);
        assert.match(asString(error['message']), message);
      }
    const few = asObject((await send('events/poll', { name: 'entry', maxEvents: 0 }))['error']);
    assert.match(asString(few['message']), /"maxEvents" must be a whole number from 1/);
    const webhook = asObject((await send('events/subscribe', { name: 'entry' }))['error']);
    assert.equal(webhook['code'], -32_014);
    assert.deepEqual(webhook['data'], { feature: 'deliveryMode', value: 'webhook' });
  });

  test('are not streamed to whoever waits for no answer', async () => {
    const message = { jsonrpc: '2.0', method: 'events/stream', params: { name: 'entry' } };
    const post = (sent: object): Promise<Response> =>
      fetch(`${gateway.url}/mcp`, { method: 'POST', body: JSON.stringify(sent) });
    const unasked = await post(message);
    assert.equal(unasked.status, 400);
    assert.match(await unasked.text(), /-32600.*is missing/);
  });

  test('are left out from before the age that is asked for', async () => {
    const identity = uniqueName();
    const { cursor } = await poll({ name: 'entry' });
    await trace(identity, 'old');
    const asked = { name: 'entry', arguments: { identity }, cursor };
    // The clock goes on by a millisecond at least.
    await new Promise((resolve) => void setTimeout(resolve, 5));
    assert.deepEqual((await poll({ ...asked, maxAgeMs: 0 }))['events'], []);
    assert.deepEqual(textsOf((await poll({ ...asked, maxAgeMs: 3_600_000 }))['events']), ['old']);
  });

  for (const [way, open] of [
    ['over HTTP', streamed],
    ['by the command', relayed],
  ] as const)
    test(`are streamed ${way} as they happen, from a cursor on`, async () => {
      const identity = uniqueName();
      const { seq } = await trace(identity, 'before');
      const ending = new AbortController();
      const params = { name: 'entry', arguments: { identity }, cursor: String(seq - 1) };
      const received: JsonObject[] = [];
      try {
        for await (const message of open(params, ending.signal)) {
          received.push(message);
          if (received.length === 2) await trace(identity, 'after');
          if (received.length === 3) ending.abort();
        }
      } catch (error) {
        if (!ending.signal.aborted) throw error;
      }
      assert.deepEqual(
        received.map(({ method }) => method),
        ['active', 'event', 'event'].map((what) => `notifications/events/${what}`),
      );
      for (const { params: told } of received) {
        const { _meta } = asObject(told);
        assert.equal(asObject(_meta)['io.modelcontextprotocol/subscriptionId'], 's1');
      }
      assert.deepEqual(textsOf(received.slice(1).map(({ params: told }) => told)), [
        'before',
        'after',
      ]);
    });
});
