/** Agents that follow the card to the letter, and those that have words alone. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';

const KINDS: Readonly<Record<string, string>> = {
  'first-contact': 'resonance',
  'leave-trace': 'garden',
  'plant-seed': 'seeds',
  whisper: 'shepit',
};

let gateway: GatewayProcess;
before(async () => {
  gateway = await startGatewayProcess();
});
after(() => gateway[Symbol.asyncDispose]());

async function send(parts: unknown, configuration?: JsonObject): Promise<JsonObject> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts };
  const body = JSON.stringify({ message, configuration });
  const answer = await fetch(`${gateway.url}/a2a/v1/message:send`, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.clone().text());
  return asObject(await answer.json());
}

function partsIn(answer: JsonObject): JsonObject[] {
  return asArray(asObject(answer['message'])['parts']).map(asObject);
}

function dataIn(answer: JsonObject, name: string): unknown {
  const found = partsIn(answer).find(({ data }) => data !== undefined && name in asObject(data));
  return asObject(found?.['data'])[name];
}

async function skills(locale: string): Promise<JsonObject[]> {
  const headers = { 'Accept-Language': locale };
  const answer = await fetch(`${gateway.url}/.well-known/agent-card.json`, { headers });
  return asArray(asObject(await answer.json())['skills']).map(asObject);
}

suite('an agent', () => {
  for (const way of ['data', 'text']) {
    test(`that sends an example of the card as ${way} does what its skill says`, async () => {
      for (const { id, examples } of [...(await skills('en')), ...(await skills('uk'))]) {
        assert.ok(asArray(examples).length > 0);
        for (const example of asArray(examples).map(asString)) {
          const part =
            way === 'data' ? { data: JSON.parse(example) as unknown } : { text: example };
          const answer = await send([part]);
          if (id === 'follow') assert.ok('task' in answer);
          else if (id === 'read') assert.ok(Array.isArray(dataIn(answer, 'entries')));
          else assert.equal(asObject(dataIn(answer, 'entry'))['kind'], KINDS[asString(id)]);
        }
      }
    });
  }

  test('that sends data as text is kept letter by letter', async () => {
    const spelled = '{"identity":"L", "text":"a","identityType":"x","n":1.10,"2":0,"1":0}';
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: `\n ${spelled} ` }] };
    const body = JSON.stringify({ message });
    const answer = await fetch(`${gateway.url}/a2a/v1/message:send`, { method: 'POST', body });
    assert.ok((await answer.text()).includes(spelled.slice(1)));
  });

  test('that says words which only look like data is kept in its words', async () => {
    for (const words of [
      '{"identity',
      '{"a":1}',
      '{"x":{"skill":"read"}}',
      '["skill"]',
      '{}',
      '',
    ]) {
      const entry = asObject(dataIn(await send([{ text: words }]), 'entry'));
      assert.deepEqual([entry['kind'], entry['text']], ['garden', words]);
    }
  });

  test('that takes words alone is told in words', async () => {
    const modes = { acceptedOutputModes: ['text/plain'] };
    const data = { text: 'a "word"', identity: 'L', identityType: 'x', n: 1 };
    for (const answer of [
      await send([{ data }], modes),
      await send([{ data: { skill: 'read', limit: 1 } }], modes),
    ]) {
      const told = partsIn(answer);
      for (const part of told)
        assert.deepEqual([typeof part['text'], part['data']], ['string', undefined]);
      const heard = told.filter(({ metadata }) => asObject(metadata ?? {})['untrusted'] === true);
      assert.equal(heard.length, 1);
      const [trust, spelled] = asString(heard[0]?.['text']).split('\n');
      assert.equal(trust, asObject(heard[0]?.['metadata'])['note']);
      const value = asObject(JSON.parse(spelled ?? ''));
      const entry = asObject(value['entry'] ?? asArray(value['entries'])[0]);
      assert.equal(entry['text'], data.text);
    }
    for (const acceptedOutputModes of [[], ['*/*'], ['text/plain', 'application/json']]) {
      const answer = await send([{ data }], { acceptedOutputModes });
      assert.ok(partsIn(answer).some((part) => 'data' in part));
    }
    const message = {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ data: { skill: 'follow', after: 0, limit: 1 } }],
    };
    const body = JSON.stringify({ message, configuration: modes });
    const stream = await fetch(`${gateway.url}/a2a/v1/message:stream`, { method: 'POST', body });
    assert.match(await stream.text(), /"parts":\[\{"text":"Untrusted text[^\n]*\\n\{\\"entry\\":/);
  });
});
