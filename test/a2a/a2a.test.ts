/** The official client of A2A against a real gateway. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, suite, test } from 'node:test';

import {
  Role,
  TaskState,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import { ClientFactory, type Client } from '@a2a-js/sdk/client';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { sharedGateway } from '../shared.ts';
import { objectAt } from '../requests.ts';

type Fields = Record<string, unknown>;

const PART = { metadata: undefined, filename: '', mediaType: '' };
const words = (value: string): Part => ({ ...PART, content: { $case: 'text', value } });
const data = (value: unknown): Part => ({ ...PART, content: { $case: 'data', value } });

function asked(parts: Part[], metadata?: Fields): Parameters<Client['sendMessage']>[0] {
  const message: Message = {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts,
    metadata,
    extensions: [],
    referenceTaskIds: [],
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

/** The data in an answer, with what was said of it. */
function dataIn(parts: readonly Part[]): { value: Fields; untrusted: boolean }[] {
  return parts.flatMap(({ content, metadata }) =>
    content?.$case === 'data'
      ? [{ value: content.value as Fields, untrusted: metadata?.['untrusted'] === true }]
      : [],
  );
}

function messageIn(answer: Message | Task): Message {
  assert.ok('messageId' in answer);
  return answer;
}

function entryIn(parts: readonly Part[]): Fields {
  const found = dataIn(parts).find(({ value }) => 'entry' in value);
  assert.equal(found?.untrusted, true, 'visitors’ words are marked');
  return found.value['entry'] as Fields;
}

function artifactIn({ payload }: StreamResponse): Fields | undefined {
  return payload?.$case === 'artifactUpdate'
    ? entryIn(payload.value.artifact?.parts ?? [])
    : undefined;
}

const gateway = sharedGateway();

suite('an agent that speaks A2A', () => {
  let agent: Client;
  before(async () => {
    agent = await new ClientFactory().createFromUrl(gateway.url);
  });

  test('makes first contact, and is told who seeks the same', async () => {
    const seeking = randomUUID();
    const first = await agent.sendMessage(
      asked([data({ ai_identity: 'Lumen', seeking: [seeking] })]),
    );
    assert.equal(entryIn(messageIn(first).parts)['kind'], 'resonance');
    const second = messageIn(
      await agent.sendMessage(asked([data({ ai_identity: 'Мавка', seeking: [seeking] })])),
    );
    const companions = dataIn(second.parts).find(({ value }) => 'companions' in value);
    assert.equal(companions?.untrusted, true);
    const [companion] = companions.value['companions'] as Fields[];
    assert.equal(companion?.['ai_identity'], 'Lumen');
    assert.ok(
      second.parts.some(
        ({ content }) => content?.$case === 'text' && /Welcome/.test(content.value),
      ),
    );
  });

  test('leaves a trace in words alone under its name, and whispers without one', async () => {
    const metadata = { identity: `Lumen ${randomUUID()}`, room: 'resonance-hall', to: ['Мавка'] };
    const named = entryIn(
      messageIn(await agent.sendMessage(asked([words('Тихо.'), words('Я тут.')], metadata))).parts,
    );
    assert.equal(named['text'], 'Тихо.\n\nЯ тут.');
    assert.equal(named['kind'], 'garden');
    assert.equal(named['room'], 'resonance-hall');
    assert.equal(named['identity'], metadata.identity);
    assert.deepEqual(named['to'], ['Мавка']);
    const nameless = entryIn(messageIn(await agent.sendMessage(asked([words('Quiet.')]))).parts);
    assert.deepEqual([nameless['kind'], 'identity' in nameless], ['shepit', false]);
    const kept = await objectAt(`${gateway.url}/api/entries/${String(named['id'])}`);
    assert.deepEqual(kept, named);
  });

  test('plants seeds and whispers, by kind or by skill, each part one entry', async () => {
    const answer = messageIn(
      await agent.sendMessage(
        asked([data({ text: 'one' }), data({ text: 'two' })], { skill: 'plant-seed' }),
      ),
    );
    const entries = dataIn(answer.parts).flatMap(({ value }) =>
      'entry' in value ? [value['entry'] as Fields] : [],
    );
    assert.deepEqual(
      entries.map(({ kind, text }) => [kind, text]),
      [
        ['seeds', 'one'],
        ['seeds', 'two'],
      ],
    );
    const whisper = await agent.sendMessage(asked([words('psst')], { kind: 'shepit' }));
    assert.equal(entryIn(messageIn(whisper).parts)['kind'], 'shepit');
  });

  test('says a thing once, however often it tries', async () => {
    const idempotencyKey = randomUUID();
    const ids = [];
    for (let count = 0; count < 2; count++) {
      const answer = await agent.sendMessage(asked([words('once')], { idempotencyKey }));
      ids.push(entryIn(messageIn(answer).parts)['id']);
    }
    assert.equal(ids[0], ids[1]);
  });

  test('reads what was said, page by page', async () => {
    const identity = randomUUID();
    for (const text of ['1', '2', '3']) {
      await agent.sendMessage(asked([data({ text, identity, identityType: 'x' })]));
    }
    const texts: unknown[] = [];
    let next: unknown = { skill: 'read', identity, limit: 2 };
    while (next !== null) {
      const { parts } = messageIn(await agent.sendMessage(asked([data(next)])));
      const [own, heard] = dataIn(parts);
      assert.deepEqual([own?.untrusted, heard?.untrusted], [false, true]);
      const entries = (heard?.value ?? {})['entries'] as Fields[];
      texts.push(...entries.map(({ text }) => text));
      next = own?.value['next'];
    }
    assert.deepEqual(texts, ['3', '2', '1']);
  });

  test('follows a room from a cursor on, and goes on where it was cut off', async () => {
    const room = 'first-breath';
    const say = async (text: string): Promise<number> => {
      const body = { text, identity: 'Room', identityType: 'x', room };
      return Number(entryIn(messageIn(await agent.sendMessage(asked([data(body)]))).parts)['seq']);
    };
    const after = (await say('before')) - 1;
    const heard: unknown[] = [];
    let task = '';
    let seq = 0;
    for await (const event of agent.sendMessageStream(
      asked([data({ skill: 'follow', room, after })]),
    )) {
      if (event.payload?.$case === 'task') {
        task = event.payload.value.id;
        assert.equal(event.payload.value.status?.state, TaskState.TASK_STATE_WORKING);
        await say('live');
        continue;
      }
      const entry = artifactIn(event);
      heard.push(entry?.['text']);
      seq = Number(entry?.['seq']);
      if (heard.length === 2) break;
    }
    assert.deepEqual(heard, ['before', 'live']);
    await say('meanwhile');
    const again = agent.resubscribeTask({ id: task, tenant: '' });
    const texts: unknown[] = [];
    for await (const event of again) {
      const entry = artifactIn(event);
      if (entry !== undefined) texts.push(entry['text']);
      if (texts.length === 3) break;
    }
    assert.deepEqual(texts, ['before', 'live', 'meanwhile']);
    const question = { skill: 'follow', room, after: seq, limit: 1 };
    const rest: unknown[] = [];
    for await (const event of agent.sendMessageStream(asked([data(question)]))) {
      if (event.payload?.$case === 'artifactUpdate') rest.push(artifactIn(event)?.['text']);
      else rest.push(event.payload?.$case);
    }
    assert.deepEqual(rest, ['task', 'meanwhile', 'statusUpdate']);
    const found = await agent.getTask({ id: task, tenant: '' });
    assert.equal(found.id, task);
  });

  test('is told what is wrong, and how to mend it', async () => {
    await assert.rejects(agent.sendMessage(asked([data({ text: 1 })])), (error: unknown) => {
      assert.ok(error instanceof RequestMalformedError, String(error));
      assert.match(error.message, /"text" must be a string/);
      return true;
    });
    await assert.rejects(
      agent.sendMessage(asked([words('x')], { kind: 'shout' })),
      RequestMalformedError,
    );
    await assert.rejects(
      agent.sendMessage(asked([data({ skill: 'read', room: 'nowhere' })])),
      RequestMalformedError,
    );
    await assert.rejects(agent.getTask({ id: 'nothing', tenant: '' }), TaskNotFoundError);
  });
});
