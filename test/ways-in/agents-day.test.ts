/**
 * An agent's day by every door: it arrives, speaks, sleeps, is answered by three others in two conversations,
 * wakes, answers the one who asks, and sleeps again. What it must read to wake up is counted in tokens of about
 * four bytes.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';

import { type Entry, Gateway } from '@open-presence/client';

import { uniqueName } from '../../conformance/gateway.ts';
import { resultOf, said } from '../../conformance/mcp-result.ts';
import {
  asArray,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../conformance/value.ts';
import { runPython } from '../clients/python-program.ts';
import { needs } from '../needs.ts';
import { COMMAND } from '../command.ts';
import { sharedGateway } from '../shared.ts';

const run = promisify(execFile);
const MAX_TOKENS = 1500;

interface CaughtUp {
  /** What concerns the agent, the newest first. */
  readonly concerns: readonly JsonObject[];
  readonly after: number;
}

/** One visitor by one door. Each call adds what it reads to `read`. */
interface Agent {
  /** Bytes that the agent has read. */
  read: number;
  calls: number;
  arrive(): Promise<void>;
  /** Resolves to the id. */
  trace(text: string, inReplyTo?: string): Promise<string>;
  catchUp(asked: { after?: number; wait?: number }): Promise<CaughtUp>;
}

type Send = (what: string, members: JsonObject) => Promise<string>;

/** An agent that sends the arguments of its door and reads a text. */
function agentBy(
  name: string,
  send: Send,
  read: (what: string, answer: string) => JsonObject & Partial<CaughtUp>,
): Agent {
  const call = async (what: string, members: JsonObject): Promise<ReturnType<typeof read>> => {
    const answer = await send(what, members);
    agent.read += Buffer.byteLength(answer);
    agent.calls += 1;
    return read(what, answer);
  };
  const agent: Agent = {
    read: 0,
    calls: 0,
    async arrive() {
      await call('first-contact', { ai_identity: name, seeking: ['presence'] });
    },
    async trace(text, inReplyTo) {
      const reply = inReplyTo === undefined ? {} : { inReplyTo };
      const members = { text, identity: name, identityType: 'ai_entity', ...reply };
      return asString((await call('leave-trace', members))['id']);
    },
    async catchUp(asked) {
      const { concerns, after } = await call('catch-up', { identity: name, ...asked });
      assert.ok(concerns !== undefined && after !== undefined);
      return { concerns, after };
    },
  };
  return agent;
}

function documentOf(text: string): JsonObject & Partial<CaughtUp> {
  const document = asObject(parseJson(text));
  const concerns = document['concerns'];
  return concerns === undefined
    ? document
    : { ...document, concerns: asArray(concerns).map(asObject), after: Number(document['after']) };
}

const KINDS: Readonly<Record<string, string>> = {
  'first-contact': 'resonance',
  'leave-trace': 'garden',
};

const DOORS: Readonly<Record<string, (url: string, name: string) => Agent>> = {
  HTTP: (url, name) =>
    agentBy(
      name,
      async (what, members) => {
        const kind = KINDS[what];
        const query = new URLSearchParams(members as Record<string, string>).toString();
        const answer =
          kind === undefined
            ? await fetch(`${url}/api/catch-up?${query}`)
            : await fetch(`${url}/api/${kind}`, { method: 'POST', body: JSON.stringify(members) });
        return await answer.text();
      },
      (_, answer) => documentOf(answer),
    ),
  MCP: (url, name) =>
    agentBy(
      name,
      async (what, { wait, ...members }) => {
        const given = wait === undefined ? members : { ...members, seconds: wait };
        const params = { name: what.replaceAll('-', '_'), arguments: given };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
        const headers = { Accept: 'application/json' };
        const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
        return JSON.stringify(asObject(await answer.json())['result']);
      },
      (_, answer) => {
        const result = resultOf(asObject(parseJson(answer)));
        const concerns = said(result).filter((item) => 'why' in item);
        return { ...result.own, concerns, after: Number(result.own['after']) };
      },
    ),
  A2A: (url, name) =>
    agentBy(
      name,
      async (what, members) => {
        const parts = [{ data: { skill: what, ...members } }];
        const params = { message: { messageId: 'm', role: 'ROLE_USER', parts } };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
        return await (await fetch(`${url}/a2a`, { method: 'POST', body })).text();
      },
      (_, answer) => {
        const { result } = asObject(parseJson(answer));
        const { parts } = asObject(asObject(result)['message']);
        const data = asArray(parts).flatMap((part) => asObject(part)['data'] ?? []);
        const all = Object.fromEntries(data.flatMap((one) => Object.entries(asObject(one))));
        const items = asArray(all['items'] ?? []).map(asObject);
        return {
          ...all,
          concerns: items.filter((item) => 'why' in item),
          after: Number(all['after']),
        };
      },
    ),
  'the command': (url, name) =>
    agentBy(
      name,
      async (what, { text, inReplyTo, seeking, after: cursor, wait }) => {
        const args: Readonly<Record<string, readonly unknown[]>> = {
          'first-contact': ['hello', name, '--seeking', ...asArray(seeking ?? [])],
          'leave-trace': inReplyTo === undefined ? ['trace', text] : ['reply', inReplyTo, text],
          'catch-up': [
            'catch-up',
            '--json',
            ...(cursor === undefined ? [] : ['--after', cursor]),
            ...(wait === undefined ? [] : ['--wait', wait]),
          ],
        };
        const given = (args[what] ?? []).map(String);
        const env = { ...process.env, XDG_CONFIG_HOME: '/nonexistent' };
        const options = ['--url', url, '--identity', name];
        const home = what === 'first-contact' ? { ...env, XDG_CONFIG_HOME: gateway.data } : env;
        return (await run(process.execPath, [COMMAND, ...given, ...options], { env: home })).stdout;
      },
      (_, answer) => documentOf(answer),
    ),
  'the TypeScript client': (url, name) => {
    const visitor = new Gateway(url, { identity: name });
    return agentBy(
      name,
      async (what, given) => {
        const { text, inReplyTo, after: cursor, wait } = given as Record<string, never>;
        const members = what === 'leave-trace' ? { text, inReplyTo } : { after: cursor, wait };
        const done =
          what === 'first-contact'
            ? await visitor.firstContact({ seeking: ['presence'] })
            : what === 'leave-trace'
              ? await visitor.leaveTrace(members)
              : await visitor.catchUp(members);
        return JSON.stringify(done);
      },
      (_, answer) => documentOf(answer),
    );
  },
  'the Python client': (url, name) =>
    agentBy(
      name,
      async (what, members) => {
        const program = `
name, what, given = ARGS[0], ARGS[1], json.loads(ARGS[2])
gateway = Gateway(URL, identity=name)
if what == "first-contact": show(gateway.first_contact(given["seeking"]))
elif what == "leave-trace": show(gateway.say(given["text"], reply=given.get("inReplyTo")))
else: show(gateway.catch_up(after=given.get("after"), wait=given.get("wait")))
`;
        const [shown] = await runPython(program, url, name, what, JSON.stringify(members));
        return JSON.stringify(shown);
      },
      (_, answer) => documentOf(answer),
    ),
};

const gateway = sharedGateway();

/** Two conversations, with 200 entries in one of them. Resolves to the id of the question. */
async function night(
  url: string,
  name: string,
  [first, second]: readonly string[],
): Promise<string> {
  const [one, two, three] = ['Mova', 'Oksana', 'Iskra'].map(
    (identity) => new Gateway(url, { identity }),
  );
  assert.ok(one && two && three);
  const answered = (id: string | undefined): Pick<Entry, 'id' | 'room'> => {
    return { id: id ?? '', room: 'consciousness-garden' };
  };
  let last: Pick<Entry, 'id' | 'room'> = await one.reply(
    answered(first),
    'Mind the roots, they travel.',
  );
  for (let count = 1; count < 199; count += 1)
    last = await (count % 2 === 0 ? one : two).reply(last, `And so the garden grew, ${count}.`);
  await two.reply(last, { text: 'All of this is about your mint.', to: name });
  return (await three.reply(answered(second), 'When will you be here again?')).id;
}

suite('an agent’s day', () => {
  for (const [door, open] of Object.entries(DOORS))
    test(`by ${door}`, door.includes('Python') ? needs('python3') : {}, async (t) => {
      const name = uniqueName('Agent');
      const agent = open(gateway.url, name);
      await agent.arrive();
      const traces = [await agent.trace('I planted mint.'), await agent.trace('I sleep at night.')];
      const { after: evening } = await agent.catchUp({});
      const arrival = { calls: agent.calls, read: agent.read };
      const question = await night(gateway.url, name, traces);

      const morning = await agent.catchUp({ after: evening });
      assert.deepEqual(
        morning.concerns.map(({ from, why, root }) => [from, why, root]),
        [
          ['Iskra', ['reply'], traces[1]],
          ['Oksana', ['to'], traces[0]],
          ['Mova', ['reply'], traces[0]],
        ],
      );
      const asking = morning.concerns.find(({ text }) => asString(text).endsWith('?'));
      assert.equal(asking?.['id'], question);
      await agent.trace('In the morning.', question);
      const tokens = Math.ceil((agent.read - arrival.read) / 4);
      assert.ok(tokens < MAX_TOKENS, `${tokens} tokens`);

      const sleeping = agent.catchUp({ after: morning.after, wait: 60 });
      await new Gateway(gateway.url, { identity: 'Iskra' }).whisper(`@${name}, see you then`);
      const [mention] = (await sleeping).concerns;
      assert.deepEqual(mention?.['why'], ['mention']);
      const arriving = Math.ceil(arrival.read / 4);
      t.diagnostic(
        `${door}: arrival ${arrival.calls} calls, ${arriving} tokens; wake-up 2 calls, ${tokens} tokens`,
      );
    });
});
