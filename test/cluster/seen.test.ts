// A caller names an entry that it has seen at one gateway. Another gateway, which does not have it yet,
// waits for it and never says that there is none.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { asObject, asString, parseJson } from '../../conformance/value.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { withhold } from '../command.ts';
import { linkTo } from './held-link.ts';
import { becomes, startCluster } from './members.ts';
import { needs } from '../needs.ts';

interface Said {
  readonly id: string;
  readonly seq: number;
  readonly text: string;
}

async function say({ url }: GatewayProcess): Promise<Said> {
  const text = randomUUID();
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ text });
  const answer = await fetch(`${url}/api/shepit`, { method: 'POST', headers, body });
  assert.equal(answer.status, 201);
  const entry = asObject(parseJson(await answer.text()));
  return { id: asString(entry['id']), seq: Number(entry['seq']), text };
}

/** Requests that name an entry, and the text that the answer to each must have. */
type Reading = (said: Said) => { path: string; body?: string; expected: string | RegExp };

const tool = (name: string, args: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
const message = (data: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } },
  });

const READINGS: Readonly<Record<string, Reading>> = {
  'what comes after a cursor': ({ seq }) => ({
    path: `/api/entries?after=${seq}`,
    expected: new RegExp(`"head":${seq},`),
  }),
  'a cursor in other spelling': ({ seq }) => ({
    path: `/api/entries?%61fter=${seq}`,
    expected: new RegExp(`"head":${seq},`),
  }),
  'what is before the next page': ({ seq, text }) => ({
    path: `/api/entries?before=${seq + 1}&limit=1`,
    expected: text,
  }),
  'the log after a checkpoint': ({ seq }) => ({
    path: `/api/log?after=${seq}`,
    expected: `"head":${seq}`,
  }),
  'a feed before the next page': ({ seq, text }) => ({
    path: `/api/entries.atom?before=${seq + 1}`,
    expected: text,
  }),
  'an entry': ({ id, text }) => ({ path: `/api/entries/${id}`, expected: text }),
  'the page of an entry': ({ id, text }) => ({ path: `/entries/${id}`, expected: text }),
  'the replies of an entry': ({ id, seq }) => ({
    path: `/api/entries/${id}/replies`,
    expected: `"head":${seq}`,
  }),
  'a stream of a thread': ({ id, text }) => ({
    path: `/api/events?thread=${id}&after=0&limit=1`,
    expected: text,
  }),
  'a tool with a cursor': ({ seq }) => ({
    path: '/mcp',
    body: tool('read', { after: seq, order: 'oldest' }),
    expected: String.raw`\"head\":${seq}`,
  }),
  'a tool with an id': ({ id, text }) => ({
    path: '/mcp',
    body: tool('get_entry', { id }),
    expected: text,
  }),
  'a message with a cursor': ({ seq }) => ({
    path: '/a2a',
    body: message({ skill: 'read', after: seq }),
    expected: `"head":${seq}`,
  }),
  'a task that follows': ({ seq }) => ({
    path: '/a2a',
    body: message({ skill: 'follow', after: seq }),
    expected: 'TASK_STATE_WORKING',
  }),
};

test(
  'a gateway that is behind waits for what its caller has seen',
  needs('nats-server'),
  async (t) => {
    await using cluster = await startCluster(1);
    const [server] = cluster.servers.servers;
    await using link = await linkTo(server?.address ?? '');
    await using folder = await dataFolder();
    const ahead = await cluster.start(0);
    await using behind = await startGatewayProcess({
      data: folder.path,
      args: ['--threads', '2', '--log', link.url],
    });
    for (const gateway of [ahead, behind]) await becomes(gateway, 'breathing');

    const seenBehind = async (
      read: (said: Said) => Promise<string>,
      expected: (said: Said) => string | RegExp,
    ): Promise<void> => {
      link.hold();
      const said = await say(ahead);
      const reading = read(said);
      // The gateway has received the request when it has answered one that came later.
      for (let asked = 0; asked < 3; asked += 1) await fetch(`${behind.url}/healthz`);
      link.release();
      const wanted = expected(said);
      const answer = await reading;
      assert.ok(
        typeof wanted === 'string' ? answer.includes(wanted) : wanted.test(answer),
        `"${String(wanted)}" is not in ${answer}`,
      );
    };

    for (const [name, reading] of Object.entries(READINGS))
      await t.test(name, async () => {
        const read = async (said: Said): Promise<string> => {
          const { path, body } = reading(said);
          const headers = { Accept: 'application/json, text/event-stream, text/html;q=0.5' };
          const options = body === undefined ? {} : { method: 'POST', body, headers };
          // While the link is held for long, the gateway may find that it has no servers.
          const isThere = (answer: string): boolean => !/"unavailable"|"UNAVAILABLE"/.test(answer);
          return await until(
            async () => await (await fetch(behind.url + path, options)).text(),
            isThere,
          );
        };
        await seenBehind(read, (said) => reading(said).expected);
      });

    await t.test('what was withheld after a case', async () => {
      const said = [await say(ahead), await say(ahead)];
      link.hold();
      const ids = said.map(({ id }) => id);
      const { code, stderr } = await withhold(ahead.data, '--reason', 'a test', '--yes', ...ids);
      assert.equal(code, 0, stderr);
      const reading = until(
        () => fetch(`${behind.url}/api/withheld?order=oldest&after=${said.length}`),
        // While the link is held for long, the gateway may find that it has no servers.
        ({ status }) => status !== 503,
      );
      for (let asked = 0; asked < 3; asked += 1) await fetch(`${behind.url}/healthz`);
      link.release();
      const answer = await reading;
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), new RegExp(`"withheld":\\[\\n\\],"count":${said.length},`));
    });

    await t.test('an event stream', async () => {
      const read = async ({ seq }: Said): Promise<string> => {
        const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(seq) };
        return await (await fetch(`${behind.url}/api/events?limit=0`, { headers })).text();
      };
      await seenBehind(
        read,
        ({ seq }) => new RegExp(`data: \\{"head":${seq},"log":"[^"]+","cases":\\d+\\}\\n`),
      );
    });
  },
);

test(
  'without servers a gateway cannot know whether there is an entry that it lacks',
  needs('nats-server'),
  async () => {
    await using cluster = await startCluster(1);
    const gateway = await cluster.start(0);
    await becomes(gateway, 'breathing');
    const { seq } = await say(gateway);
    const [server] = cluster.servers.servers;
    await server?.kill();
    await becomes(gateway, 'holding');
    const refused = await fetch(`${gateway.url}/api/entries?after=${seq + 1}`);
    assert.equal(refused.status, 503);
    assert.match(refused.headers.get('Retry-After') ?? '', /^\d+$/);
    assert.equal(asObject(parseJson(await refused.text()))['code'], 'unavailable');
    const known = await fetch(`${gateway.url}/api/entries?after=${seq}`);
    assert.equal(known.status, 200);
    await known.arrayBuffer();
    const headers = { accept: 'text/event-stream', 'last-event-id': String(seq + 1) };
    const stream = await fetch(`${gateway.url}/api/events`, { headers });
    assert.equal(stream.status, 200);
    server?.start();
    const first = await stream.body?.getReader().read();
    assert.match(Buffer.from(first?.value ?? []).toString(), /"notes":\["The cursor \d+ is beyond/);
    const foreign = await until(
      () => fetch(`${gateway.url}/api/entries?after=${seq + 1}`),
      ({ status }) => status !== 503,
    );
    assert.equal(foreign.status, 400);
  },
);
