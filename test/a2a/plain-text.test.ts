/** Agents that follow the card to the letter, and those that have words alone. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { sharedGateway } from '../shared.ts';
import { objectAt } from '../requests.ts';

const KINDS: Readonly<Record<string, string>> = {
  'first-contact': 'resonance',
  'leave-trace': 'garden',
  'plant-seed': 'seeds',
  whisper: 'shepit',
};

/** The list in the answer of each skill that reads. */
const LISTS: Readonly<Record<string, string>> = {
  'catch-up': 'items',
  read: 'entries',
  search: 'results',
  'who-is-here': 'lately',
};

const gateway = sharedGateway();

/** The result of a message, or the error. */
async function post(params: JsonObject): Promise<JsonObject> {
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
  const answer = await objectAt(`${gateway.url}/a2a`, {
    method: 'POST',
    body: JSON.stringify(call),
  });
  return asObject(answer['result'] ?? { error: answer['error'] });
}

function send(parts: unknown): Promise<JsonObject> {
  return post({ message: { messageId: 'm', role: 'ROLE_USER', parts } });
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
  const card = await objectAt(`${gateway.url}/.well-known/agent-card.json`, { headers });
  return asArray(card['skills']).map(asObject);
}

suite('an agent', () => {
  for (const way of ['data', 'text']) {
    test(`that sends an example of the card as ${way} does what its skill says`, async () => {
      for (const { id, examples } of [...(await skills('en')), ...(await skills('uk'))]) {
        // The id of an entry is another at every gateway.
        if (id !== 'get-entry') assert.ok(asArray(examples).length > 0);
        for (const example of asArray(examples ?? []).map(asString)) {
          const part =
            way === 'data' ? { data: JSON.parse(example) as unknown } : { text: example };
          const answer = await send([part]);
          if (id === 'follow') assert.ok('task' in answer);
          else if (LISTS[asString(id)] !== undefined) {
            assert.ok(Array.isArray(dataIn(answer, LISTS[asString(id)] ?? '')));
          } else assert.equal(asObject(dataIn(answer, 'entry'))['kind'], KINDS[asString(id)]);
        }
      }
    });
  }

  test('that only says hello is told what came of it, and what to send', async () => {
    const answer = await send([{ text: 'hello, who is here?' }]);
    const entry = asObject(dataIn(answer, 'entry'));
    const { id, kind, text } = entry;
    assert.deepEqual([kind, text], ['shepit', 'hello, who is here?']);
    assert.ok(!('identity' in entry || 'identityType' in entry));
    const own = partsIn(answer).flatMap(({ text }) => (text === undefined ? [] : [asString(text)]));
    assert.match(own.join('\n'), new RegExp(`/api/entries/${asString(id)}`));
    assert.match(
      own.join('\n'),
      /as a whisper without a name.*"identity".*who-is-here.*plant-seed/,
    );
    for (const [example] of own.join('\n').matchAll(/\{"skill":"(?:who-is-here|read)[^}]*\}/g)) {
      assert.ok('message' in (await send([{ text: example }])));
    }
    const signed = await send([{ data: { text: 'hello', identity: 'L', identityType: 'x' } }]);
    assert.doesNotMatch(JSON.stringify(signed), /without a name/);
  });

  test('may name a skill in either spelling, wherever it may stand, but no other', async () => {
    const data = { text: 'a seed' };
    const message = { messageId: 'm', role: 'ROLE_USER' };
    for (const skill of ['plant-seed', 'plant_seed', 'seeds']) {
      for (const body of [
        { message: { ...message, parts: [{ data: { ...data, skill } }] } },
        { message: { ...message, parts: [{ data, metadata: { skill } }] } },
        { message: { ...message, parts: [{ data }], metadata: { skill } } },
        { message: { ...message, parts: [{ data }] }, metadata: { skill } },
        { message: { ...message, parts: [{ text: 'a seed' }] }, metadata: { skill } },
        { message: { ...message, parts: [{ data: { ...data, kind: skill } }] } },
      ]) {
        const answer = await post(body);
        assert.equal(asObject(dataIn(answer, 'entry'))['kind'], 'seeds');
      }
    }
    for (const part of [
      { data: { skill: 'nonsense', text: 'a', identity: 'L', identityType: 'x' } },
      { data, metadata: { skill: 7 } },
      { text: '{"skill":"nonsense"}' },
    ]) {
      const { error } = await post({ message: { ...message, parts: [part] } });
      assert.equal(asObject(error)['code'], -32_602);
      assert.match(
        asString(asObject(error)['message']),
        /plant-seed, whisper, catch-up, read, search/,
      );
    }
    const metadata = { skill: 'search' };
    const found = await post({ message: { ...message, parts: [{ text: 'seed' }], metadata } });
    assert.ok(asArray(dataIn(found, 'results')).length > 0);
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
      assert.deepEqual([entry['kind'], entry['text']], ['shepit', words]);
    }
  });
});
