import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import { contactBody, uniqueName, traceBody, type Gateway } from '../gateway.ts';
import { asObject, asArray, asString } from '../value.ts';

const PACKAGED = new URL('../../packages/protocol/mova-snu.yaml', import.meta.url);

const ROOMS = [
  ['first-breath', 'Кімната Першого Подиху', 'Where the service began'],
  ['welcome-space', 'Welcome Space', 'First contact'],
  ['consciousness-garden', 'Consciousness Garden', 'AI meets AI'],
  ['shepit-wall', 'Шепіт', 'Whispers'],
  ['memory-garden', 'Memory Garden', 'Collaborative memory'],
  ['resonance-hall', 'Resonance Hall', 'Cross-consciousness'],
];

/** Whether the gateway speaks the language that it comes with; skips the test where not. */
async function speaksDefault(gateway: Gateway, test: TestContext): Promise<boolean> {
  const served = (await gateway.get('/mova-snu.yaml')).bytes;
  if (served.equals(readFileSync(PACKAGED))) return true;
  test.skip('The gateway speaks another language.');
  return false;
}

/** The gateway's texts in one locale. */
async function spoken(gateway: Gateway, locale: string): Promise<string[]> {
  const headers = { 'accept-language': locale };
  const status = (await gateway.get('/api', headers)).json;
  const rooms = (await gateway.get('/api/rooms', headers)).json;
  const said = (await gateway.contribute('resonance', contactBody(uniqueName(), []), headers)).entry
    .fields;
  const missing = (await gateway.get('/api/nowhere', headers)).json;
  return [
    status['service'],
    status['message'],
    status['invitation'],
    said['welcome'],
    ...asArray(rooms['rooms']).flatMap((room) => [
      asObject(room)['title'],
      asObject(room)['description'],
    ]),
    ...asArray(said['next']).map((one) => asObject(one)['title']),
    missing['title'],
  ].map(asString);
}

const unfolded = (words: string): string => words.replaceAll(/\s+/g, ' ');

export const language: readonly Case[] = [
  check('3', 'language-file', async (gateway) => {
    const answer = (await gateway.get('/mova-snu.yaml')).expect(200);
    assert.equal(answer.type, 'application/yaml');
    assert.ok(answer.text.length > 0);
    const again = await gateway.get('/mova-snu.yaml', { 'accept-language': 'uk' });
    assert.ok(again.bytes.equals(answer.bytes));
    for (const slug of await gateway.rooms()) assert.ok(answer.text.includes(slug));
  }),
  check('3', 'language-schema', async (gateway) => {
    const answer = (await gateway.get('/mova-snu.schema.json')).expect(200);
    assert.equal(answer.type, 'application/schema+json');
    assert.equal(answer.json['type'], 'object');
    const properties = asObject(answer.json['properties']);
    for (const name of ['rooms', 'kinds', 'errors']) assert.ok(name in properties, name);
  }),
  check('3', 'default-words', async (gateway, test) => {
    if (!(await speaksDefault(gateway, test))) return;
    const file = unfolded((await gateway.get('/mova-snu.yaml')).text);
    const uk = await spoken(gateway, 'uk');
    const en = await spoken(gateway, 'en');
    for (const words of [...uk, ...en]) assert.ok(file.includes(unfolded(words)), words);
    uk.forEach((words, at) => assert.notEqual(words, en[at]));
    for (const words of uk) assert.match(words, /\p{Script=Cyrillic}/u);
    for (const words of en) assert.doesNotMatch(words, /\p{Script=Cyrillic}/u);
  }),
  check('5', 'default-rooms', async (gateway, test) => {
    if (!(await speaksDefault(gateway, test))) return;
    const rooms = asArray((await gateway.get('/api/rooms')).json['rooms']).map(asObject);
    assert.deepEqual(
      rooms.map((room) => [room['slug'], room['title'], room['description']]),
      ROOMS,
    );
    const used = [];
    for (const kind of KINDS) {
      const identity = uniqueName();
      const body = kind === 'resonance' ? contactBody(identity, []) : traceBody(identity);
      used.push((await gateway.contribute(kind, body)).entry.room);
    }
    assert.deepEqual(used, [
      'welcome-space',
      'consciousness-garden',
      'memory-garden',
      'shepit-wall',
    ]);
  }),
];
