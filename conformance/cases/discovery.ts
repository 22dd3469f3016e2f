import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { entryOf, KINDS, type Kind } from '../entry.ts';
import { uniqueName, traceBody, type Gateway } from '../gateway.ts';
import { elements, members } from '../spelling.ts';
import { PRESENT } from './presence.ts';
import { asObject, asArray, asString, asInteger, asNonBlank, type JsonObject } from '../value.ts';

const PARTS = [
  'service',
  'status',
  'version',
  'head',
  'log',
  'trust',
  'methods',
  'kinds',
  'common',
  'rooms',
  'doors',
  'parameters',
  'here',
  'newest',
];
const PARAMETERS = [
  'order',
  'limit',
  'after',
  'before',
  'since',
  'until',
  'room',
  'kind',
  'identity',
  'identityType',
  'seeking',
  'to',
  'inReplyTo',
  'as',
];

function isKind(word: string): word is Kind {
  return KINDS.some((kind) => kind === word);
}

async function discover(gateway: Gateway): Promise<JsonObject> {
  const answer = (await gateway.get('/api/discover')).expect(200);
  assert.equal(answer.type, 'application/json');
  return answer.json;
}

export const discovery: readonly Case[] = [
  check('10', 'parts', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const all = await discover(gateway);
    for (const part of PARTS) assert.ok(part in all, part);
    const status = (await gateway.get('/api')).json;
    for (const name of ['service', 'status', 'version']) assert.equal(all[name], status[name]);
    assert.ok(asInteger(all['head']) >= entry.seq);
    assert.match(JSON.stringify(all['trust']), /\p{L}/u);
    const kinds = asArray(all['kinds']).map(asObject);
    assert.deepEqual(
      kinds.map((one) => [one['kind'], one['path']]),
      KINDS.map((kind) => [kind, `/api/${kind}`]),
    );
    for (const kind of kinds) {
      for (const part of ['title', 'meaning', 'room']) asNonBlank(kind[part]);
      asObject(kind['example']);
    }
    assert.deepEqual(asArray(all['methods']), ['GET', 'POST']);
    const common = asArray(all['common']).map(asObject);
    for (const name of ['room', 'to', 'inReplyTo']) {
      assert.ok(common.some((field) => field['name'] === name));
    }
    const own = kinds.flatMap((kind) => asArray(kind['fields']).map(asObject));
    for (const field of [...common, ...own]) {
      for (const part of ['name', 'meaning']) asNonBlank(field[part]);
      assert.ok(own.includes(field) !== common.some(({ name }) => name === field['name']));
    }
    const [first] = kinds;
    const required = asArray(first?.['fields']).map(asObject);
    assert.deepEqual(
      required.filter((field) => field['required'] === true).map(({ name }) => name),
      ['ai_identity', 'seeking'],
    );
    for (const door of asArray(all['doors']).map(asObject)) {
      for (const part of ['name', 'path', 'meaning']) asNonBlank(door[part]);
    }
    const parameters = asObject(all['parameters']);
    for (const name of PARAMETERS) asNonBlank(parameters[name]);
    const slugs = asArray(all['rooms']).map((room) => asObject(room)['slug']);
    assert.deepEqual(slugs, await gateway.rooms());
  }),
  check('10', 'usable', async (gateway) => {
    const all = await discover(gateway);
    for (const kind of asArray(all['kinds']).map(asObject)) {
      const name = asString(kind['kind']);
      assert.ok(isKind(name));
      await gateway.contribute(name, JSON.stringify(kind['example']));
    }
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const known: Readonly<Record<string, string>> = {
      id: entry.id,
      slug: entry.room,
      kind: entry.kind,
      q: 'garden',
      identity: 'Lumen',
    };
    for (const door of asArray(all['doors']).map(asObject)) {
      const path = asString(door['path']).replace(
        /\{(\w+)\}/g,
        (_, name: string) => known[name] ?? '',
      );
      (await gateway.request('HEAD', path)).expect(path.startsWith('/api/say/') ? 204 : 200);
    }
  }),
  check('10', 'here', async (gateway) => {
    const all = await discover(gateway);
    assert.ok(asArray(all['here']).length <= 12);
    // Others may arrive so fast that ours is no longer among the newest.
    for (let attempt = 0; ; attempt += 1) {
      const name = uniqueName();
      await gateway.get(`/api/rooms?as=${name}`);
      const here = asArray((await discover(gateway))['here']).map(asObject);
      const found = here.find((one) => one['identity'] === name);
      if (attempt < 50 && found === undefined) continue;
      assert.deepEqual(Object.keys(asObject(found)), PRESENT);
      return;
    }
  }),
  check('10', 'newest', async (gateway) => {
    const padded = (size: number): string => traceBody(uniqueName(), { padding: 'x'.repeat(size) });
    // Others may say so much at the same time that ours are no longer among the newest.
    for (let attempt = 0; ; attempt += 1) {
      const large = (await gateway.contribute('seeds', padded(17_000))).entry;
      const small = (await gateway.contribute('garden', padded(15_000))).entry;
      const answer = (await gateway.get('/api/discover')).expect(200);
      const newest = asArray(answer.json['newest']).map((entry) =>
        asInteger(asObject(entry)['seq']),
      );
      assert.ok(newest.length <= 12);
      const head = asInteger(answer.json['head']);
      const [first = 0] = newest;
      assert.ok(first >= head);
      assert.deepEqual(
        newest,
        newest.map((_, at) => first - at),
      );
      if (attempt < 50 && !newest.includes(large.seq)) continue;
      assert.equal(newest.length, Math.min(12, head));
      const place = newest.indexOf(small.seq);
      const part = members(answer.text).find(({ name }) => name === 'newest');
      const texts = elements(part?.value ?? '[]');
      assert.equal(texts[place], small.text);
      assert.equal(entryOf(texts[newest.indexOf(large.seq)] ?? '').body, '');
      return;
    }
  }),
];
