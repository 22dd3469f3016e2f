// Event streams of MCP as the official client holds them: what it learns, until it leaves or the gateway does.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import {
  Client,
  StreamableHTTPClientTransport,
  type StandardSchemaV1,
} from '@modelcontextprotocol/client';
import { Gateway } from '@open-presence/client';

import { uniqueName } from '../../conformance/gateway.ts';
import { PATIENCE_MS, until } from '../../conformance/until.ts';
import {
  asArray,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../conformance/value.ts';
import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';

const EXTENSION = 'io.modelcontextprotocol/events';
const PATIENT = { timeout: PATIENCE_MS };
const KINDS = ['active', 'event', 'heartbeat'];

/** Any object. */
const OBJECT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: asObject(value) }),
  },
};

/** A client of the extension, and what it was notified of. */
async function connect(url: string, mode: 'auto' | 'legacy'): Promise<[Client, JsonObject[]]> {
  const client = new Client(
    { name: 'follows', version: '1.0.0' },
    { capabilities: { extensions: { [EXTENSION]: {} } }, versionNegotiation: { mode } },
  );
  const told: JsonObject[] = [];
  for (const kind of KINDS)
    client.setNotificationHandler(`notifications/events/${kind}`, { params: OBJECT }, (params) => {
      told.push({ kind, ...params });
    });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  return [client, told];
}

async function has(told: readonly JsonObject[], count: number): Promise<void> {
  await until(
    async () => told.length,
    (length) => length >= count,
  );
}

/** Counted by the gateway about once a second. */
async function hasStreams(metrics: string, count: number): Promise<void> {
  await until(
    async () => await (await fetch(`http://${metrics}/metrics`)).text(),
    (text) => new RegExp(`^presence_streams\\S* ${count}$`, 'm').test(text),
  );
}

/** Fails for a comment. */
function messageOf(frame: string): JsonObject {
  return asObject(parseJson(/^data: (.*)$/.exec(frame)?.[1] ?? frame));
}

function textOf({ data }: JsonObject): unknown {
  return asObject(asObject(data)['entry'])['text'];
}

suite('event streams of MCP', () => {
  for (const mode of ['auto', 'legacy'] as const)
    test(`are offered, polled and held by a client (${mode}) until it leaves`, async () => {
      const metrics = `127.0.0.1:${await freePort()}`;
      await using gateway = await startGatewayProcess({ args: ['--metrics', metrics] });
      const [client, told] = await connect(gateway.url, mode);
      const offered = client.getServerCapabilities();
      assert.deepEqual(offered?.extensions?.[EXTENSION], {});
      const { events: types } = await client.request({ method: 'events/list' }, OBJECT);
      assert.ok(asArray(types).some((type) => asObject(type)['name'] === 'entry'));

      const identity = uniqueName();
      const asked = { name: 'entry', arguments: { identity } };
      const poll = (params: object): Promise<JsonObject> =>
        client.request({ method: 'events/poll', params: { ...asked, ...params } }, OBJECT);
      const { cursor } = await poll({});
      const visitor = new Gateway(gateway.url, { identity });
      await visitor.leaveTrace('before');
      const polled = asArray((await poll({ cursor, maxAgeMs: 3_600_000 }))['events']);
      assert.deepEqual(polled.map(asObject).map(textOf), ['before']);

      const leaving = new AbortController();
      const options = { ...PATIENT, signal: leaving.signal };
      const params = { ...asked, cursor };
      const streaming = client.request({ method: 'events/stream', params }, OBJECT, options);
      await has(told, 2);
      await visitor.leaveTrace('after');
      await has(told, 3);
      assert.deepEqual(
        told.map(({ kind, ...one }) => [kind, kind === 'event' ? textOf(one) : one['truncated']]),
        [
          ['active', false],
          ['event', 'before'],
          ['event', 'after'],
        ],
      );
      await hasStreams(metrics, 1);
      leaving.abort();
      await assert.rejects(streaming);
      // Of earlier revisions, clients tell that they cancel, and keep the connection.
      if (mode === 'legacy') await client.close();
      await hasStreams(metrics, 0);
      await client.close();
    });

  test('end with a result when the gateway rests, and go on from their cursor', async () => {
    await using folder = await dataFolder();
    const identity = uniqueName();
    const heard: unknown[] = [];
    let cursor = '0';
    for (const text of ['first', 'second']) {
      await using gateway = await startGatewayProcess({ data: folder.path });
      const [client, told] = await connect(gateway.url, 'auto');
      const params = { name: 'entry', cursor };
      const streaming = client.request({ method: 'events/stream', params }, OBJECT, PATIENT);
      await has(told, 1);
      await new Gateway(gateway.url, { identity }).leaveTrace(text);
      await has(told, 2);
      cursor = asString(told[1]?.['cursor']);
      heard.push(...told.slice(1).map(textOf));
      await gateway.stop();
      assert.deepEqual(await streaming, { _meta: {} });
      await client.close();
    }
    assert.deepEqual(heard, ['first', 'second']);
  });

  test('tell a reader whom nothing concerns how far they have looked, and nothing else', async () => {
    await using gateway = await startGatewayProcess();
    const params = { name: 'concerns', arguments: { identity: uniqueName() } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/stream', params });
    const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body });
    const visitor = new Gateway(gateway.url, { identity: uniqueName() });
    let text = '';
    let seq: number | undefined;
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seq ??= (await visitor.leaveTrace('to nobody')).seq;
      text += piece;
      if (text.includes('heartbeat')) break;
    }
    const [active, heartbeat, ...others] = text.trim().split('\n\n').map(messageOf);
    assert.equal(active?.['method'], 'notifications/events/active');
    assert.equal(asObject(heartbeat?.['params'])['cursor'], String(seq));
    assert.deepEqual(others, []);
  });
});
