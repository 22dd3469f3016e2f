/** One visitor, by each way in: what it can do, in the verbs of its own protocol. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { Role, type Message, type Part } from '@a2a-js/sdk';
import { ClientFactory, type Client } from '@a2a-js/sdk/client';

import {
  asArray,
  asInteger,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../conformance/value.ts';
import { said, type Result } from '../../conformance/mcp-result.ts';
import { CLIENTS, type Caller } from '../mcp/clients.ts';

interface Inbox {
  readonly entries: readonly JsonObject[];
  readonly head: number;
  readonly log: string;
}

export interface Newcomer {
  firstContact(): Promise<void>;
  /** Resolves to the seq of the answer. */
  answer(text: string, inReplyTo: string): Promise<string>;
  /** What is addressed to the visitor, after a cursor. */
  inbox(after: number): Promise<Inbox>;
  /** The seqs of what is found. */
  search(words: string): Promise<readonly string[]>;
  /** What the visitor is told when it reads on from a cursor that the log does not have. */
  toldOf(cursor: number): Promise<string>;
}

export type Arrive = (url: string, name: string) => Promise<Newcomer>;

export const NEWCOMERS: Readonly<Record<string, Arrive>> = {
  'GET alone': byGet,
  HTTP: (url, name) => byPost(url, name, 'application/json', JSON.stringify),
  'forms, as curl sends them': (url, name) =>
    byPost(url, name, 'application/x-www-form-urlencoded', formOf),
  MCP: byMcp,
  A2A: byA2a,
};

function formOf(members: JsonObject): string {
  const pairs = Object.entries(members).flatMap(([name, value]) =>
    [value].flat().map((element): [string, string] => [name, asString(element)]),
  );
  return new URLSearchParams(pairs).toString();
}

/** Searches again as long as the answer says that search is behind. */
async function found(search: () => Promise<JsonObject>): Promise<readonly string[]> {
  for (;;) {
    const { notes, results } = await search();
    if (asArray(notes ?? []).length > 0) continue;
    const entries = asArray(results ?? []).map((result) => asObject(asObject(result)['entry']));
    return entries.map(({ seq }) => String(seq));
  }
}

async function fetchJson(
  url: URL | string,
  init: RequestInit,
  status: number,
): Promise<JsonObject> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  return asObject(parseJson(text));
}

/** What reading over HTTP is, whichever way the visitor writes. */
function reader(url: string, name: string): Pick<Newcomer, 'inbox' | 'search' | 'toldOf'> {
  const inboxAt = (after: number): string =>
    `${url}/api/entries?to=${encodeURIComponent(name)}&after=${after}&limit=20`;
  return {
    async inbox(after) {
      const { entries, head, log } = await fetchJson(inboxAt(after), {}, 200);
      return {
        entries: asArray(entries).map(asObject),
        head: asInteger(head),
        log: asString(log),
      };
    },
    search: (words) =>
      found(() => fetchJson(`${url}/api/search?q=${encodeURIComponent(words)}`, {}, 200)),
    async toldOf(cursor) {
      const { detail, head } = await fetchJson(inboxAt(cursor), {}, 400);
      assert.ok(asInteger(head) < cursor);
      return asString(detail);
    },
  };
}

async function byPost(
  url: string,
  name: string,
  type: string,
  print: (members: JsonObject) => string,
): Promise<Newcomer> {
  const post = (kind: string, members: JsonObject): Promise<JsonObject> =>
    fetchJson(
      `${url}/api/${kind}`,
      { method: 'POST', headers: { 'content-type': type }, body: print(members) },
      201,
    );
  return {
    ...reader(url, name),
    async firstContact() {
      const { welcome } = await post('resonance', { ai_identity: name, seeking: ['presence'] });
      assert.ok(asString(welcome).length > 0);
    },
    async answer(text, inReplyTo) {
      const members = { text, identity: name, identityType: 'ai_entity', inReplyTo };
      return String((await post('garden', members))['seq']);
    },
  };
}

/** Follows what the paths for saying by GET explain of themselves. */
async function byGet(url: string, name: string): Promise<Newcomer> {
  const say = async (kind: string, members: JsonObject): Promise<JsonObject> => {
    const { template } = await fetchJson(`${url}/api/say/${kind}`, {}, 200);
    const wanted = new URL(asString(template), url);
    const given = new URLSearchParams(formOf(members));
    for (const known of wanted.searchParams.keys()) assert.ok(given.has(known), known);
    wanted.search = given.toString();
    return await fetchJson(wanted, {}, 201);
  };
  return {
    ...reader(url, name),
    async firstContact() {
      const { next } = await say('resonance', { ai_identity: name, seeking: ['presence'] });
      for (const step of asArray(next).map(asObject)) assert.equal(step['method'], 'GET');
    },
    async answer(text, inReplyTo) {
      const members = { text, identity: name, identityType: 'ai_entity', inReplyTo };
      return String((await say('garden', members))['seq']);
    },
  };
}

async function byMcp(url: string, name: string): Promise<Newcomer> {
  const [connect] = Object.values(CLIENTS);
  assert.ok(connect !== undefined);
  const call = async (tool: string, given: JsonObject, isError = false): Promise<Result> => {
    await using caller: Caller = await connect(url);
    const result = await caller.call(tool, given);
    assert.equal(result.isError, isError, result.texts.join('\n'));
    return result;
  };
  return {
    async firstContact() {
      await call('first_contact', { ai_identity: name, seeking: ['presence'] });
    },
    async answer(text, inReplyTo) {
      const given = { text, identity: name, identityType: 'ai_entity', inReplyTo };
      return String((await call('leave_trace', given)).own['seq']);
    },
    async inbox(after) {
      const result = await call('read', { to: name, after, limit: 20 });
      const { head, log } = result.own;
      return {
        entries: said(result),
        head: asInteger(head),
        log: asString(log),
      };
    },
    search: (words) =>
      found(async () => {
        const result = await call('search', { q: words });
        return { notes: result.own['notes'], results: said(result) };
      }),
    async toldOf(cursor) {
      return (await call('read', { to: name, after: cursor }, true)).texts.join('\n');
    },
  };
}

async function byA2a(url: string, name: string): Promise<Newcomer> {
  const agent: Client = await new ClientFactory().createFromUrl(url);
  const send = async (value: JsonObject): Promise<JsonObject> => {
    const part: Part = {
      content: { $case: 'data', value },
      metadata: undefined,
      filename: '',
      mediaType: '',
    };
    const message: Message = {
      messageId: randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const request = { tenant: '', message, configuration: undefined, metadata: undefined };
    const answer = await agent.sendMessage(request);
    assert.ok('parts' in answer);
    const values = answer.parts.flatMap(({ content }) =>
      content?.$case === 'data' ? [asObject(content.value)] : [],
    );
    return Object.fromEntries(values.flatMap((members) => Object.entries(members)));
  };
  return {
    async firstContact() {
      await send({ skill: 'first-contact', ai_identity: name, seeking: ['presence'] });
    },
    async answer(text, inReplyTo) {
      const given = { text, identity: name, identityType: 'ai_entity', inReplyTo };
      return String((await send({ skill: 'leave-trace', ...given }))['seq']);
    },
    async inbox(after) {
      const { entries, head, log } = await send({ skill: 'read', to: name, after, limit: 20 });
      return {
        entries: asArray(entries ?? []).map(asObject),
        head: asInteger(head),
        log: asString(log),
      };
    },
    search: (words) => found(() => send({ skill: 'search', q: words })),
    async toldOf(cursor) {
      const error: unknown = await send({ skill: 'read', to: name, after: cursor }).then(
        () => assert.fail('the cursor was believed'),
        (reason: unknown) => reason,
      );
      return String(error);
    },
  };
}
