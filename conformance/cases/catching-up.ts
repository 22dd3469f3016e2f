import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import type { Entry } from '../entry.ts';
import { query, traceBody, uniqueName, type Gateway } from '../gateway.ts';
import { asArray, asObject, asString, type JsonObject, pluck } from '../value.ts';

async function catchUp(
  gateway: Gateway,
  parameters: readonly (readonly [string, string])[],
): Promise<JsonObject> {
  return (await gateway.get(query('/api/catch-up', parameters))).expect(200).json;
}

async function say(gateway: Gateway, name: string, members: JsonObject): Promise<Entry> {
  return (await gateway.contribute('garden', traceBody(name, members))).entry;
}

function concernsIn(found: JsonObject): JsonObject[] {
  return asArray(found['concerns']).map(asObject);
}

export const catchingUp: readonly Case[] = [
  check('22.1', 'concerns', async (gateway) => {
    const [own, other] = [uniqueName(), uniqueName()];
    const said = (await gateway.contribute('garden', traceBody(own))).entry;
    const reply = traceBody(other, { inReplyTo: said.id });
    const answer = (await gateway.contribute('garden', reply)).entry;
    await gateway.contribute('garden', traceBody(other, { to: [own] }));
    await gateway.contribute('shepit', JSON.stringify({ text: `ask @${own}` }));
    await gateway.contribute('garden', traceBody(own, { to: own }));
    const found = await catchUp(gateway, [
      ['identity', own],
      ['after', String(said.seq)],
    ]);
    const told = concernsIn(found);
    assert.deepEqual(pluck(told, 'why'), [['mention'], ['to'], ['reply']]);
    assert.deepEqual([told[2]?.['id'], told[2]?.['root']], [answer.id, said.id]);
    assert.equal(asObject(told[2]?.['answers'])['id'], said.id);
    const all = await gateway.list(query('/api/entries', [['concerns', own]]));
    assert.equal(all.entries.length, 4);
  }),
  check('22.1', 'open', async (gateway) => {
    const [own, other] = [uniqueName(), uniqueName()];
    await say(gateway, own, {});
    const order = await say(gateway, other, { to: own });
    const question = await say(gateway, other, { text: `and you, @${own}?` });
    await say(gateway, own, {});
    const open = async (): Promise<unknown[]> =>
      pluck(concernsIn(await catchUp(gateway, [['identity', own]])), 'id');
    assert.deepEqual(await open(), [question.id, order.id]);
    await say(gateway, own, { inReplyTo: question.id });
    assert.deepEqual(await open(), [order.id]);
  }),
  check('22.1', 'seen', async (gateway) => {
    const [own, other] = [uniqueName(), uniqueName()];
    const order = await say(gateway, other, { to: own });
    const mention = await say(gateway, other, { text: `and you, @${own}?` });
    await say(gateway, own, { seen: mention.seq });
    await say(gateway, own, { seen: Number.MAX_SAFE_INTEGER });
    const later = await say(gateway, other, { to: own });
    const found = await catchUp(gateway, [['identity', own]]);
    assert.equal(asObject(found['since'])['after'], mention.seq);
    assert.deepEqual(pluck(concernsIn(found), 'id'), [later.id]);
    const [older] = asArray(found['more']).map(asObject);
    assert.equal(older?.['count'], 1);
    const earlier = (await gateway.get(asString(older['path']))).expect(200).json;
    assert.deepEqual(pluck(concernsIn(earlier), 'id'), [order.id]);
  }),
  check('22.1', 'whole-id', async (gateway) => {
    const own = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(own));
    const unknown = entry.id.replace(/^.{8}/, '01a1fe76');
    await gateway.contribute('garden', traceBody(uniqueName(), { to: own, inReplyTo: unknown }));
    const [told] = concernsIn(await catchUp(gateway, [['identity', own]]));
    assert.deepEqual([told?.['why'], told?.['answers']], [['to'], undefined]);
  }),
  check('22.1', 'budget', async (gateway) => {
    const name = uniqueName();
    const text = 'quiet words '.repeat(40);
    for (let count = 0; count < 12; count += 1)
      await gateway.contribute('garden', traceBody(uniqueName(), { to: name, text }));
    const ids = new Set<unknown>();
    let path: string | null = query('/api/catch-up', [
      ['identity', name],
      ['budget', '900'],
    ]);
    while (path !== null) {
      const answer = (await gateway.get(path)).expect(200);
      assert.ok(Buffer.byteLength(answer.text) < 900 * 4);
      const before = ids.size;
      for (const { id } of concernsIn(answer.json)) ids.add(id);
      assert.ok(ids.size > before);
      const more = asArray(answer.json['more']).map(asObject);
      assert.deepEqual(pluck(more, 'count'), ids.size === 12 ? [] : [12 - ids.size]);
      path = answer.json['next'] === null ? null : asString(answer.json['next']);
    }
    assert.equal(ids.size, 12);
  }),
  check('22.2', 'wait', async (gateway) => {
    const name = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(name));
    const noted = (
      await gateway.get(
        query('/api/catch-up', [
          ['identity', name],
          ['wait', '0'],
        ]),
      )
    ).expect(200);
    assert.equal(noted.header('warning'), undefined);
    const waiting = catchUp(gateway, [
      ['identity', name],
      ['after', String(entry.seq)],
      ['wait', '30'],
    ]);
    const { entry: other } = await gateway.contribute(
      'garden',
      traceBody(uniqueName(), { to: name }),
    );
    assert.deepEqual(pluck(concernsIn(await waiting), 'id'), [other.id]);
  }),
  check('22.3', 'text', async (gateway) => {
    const [name, author] = [uniqueName(), uniqueName()];
    await gateway.contribute('garden', traceBody(author, { to: name }));
    const path = query('/api/catch-up', [['identity', name]]);
    const answer = (await gateway.get(path, { accept: 'text/markdown' })).expect(200);
    assert.equal(answer.type, 'text/markdown');
    assert.ok(answer.text.includes(author));
  }),
  check('9', 'threads', async (gateway) => {
    const { entry: root } = await gateway.contribute('garden', traceBody(uniqueName()));
    const ids = [root.id];
    for (let count = 0; count < 4; count += 1) {
      const inReplyTo = ids[Math.floor(count / 2)];
      ids.push((await gateway.contribute('seeds', JSON.stringify({ inReplyTo }))).entry.id);
    }
    for (const id of ids) {
      const { entries } = await gateway.list(query('/api/entries', [['thread', id]]));
      assert.deepEqual(entries.map((one) => one.id).toReversed(), ids);
    }
    const path = query('/api/seeds', [['thread', ids[4] ?? '']]);
    assert.equal((await gateway.list(path)).entries.length, 4);
    (await gateway.get('/api/entries?thread=nothing')).problem(400, 'invalid-parameter');
  }),
  check('9', 'related', async (gateway) => {
    const { entry: root } = await gateway.contribute('garden', traceBody(uniqueName()));
    const inReplyTo = root.id;
    await gateway.contribute('seeds', JSON.stringify({ inReplyTo }));
    const { entry } = await gateway.contribute('seeds', JSON.stringify({ inReplyTo }));
    const relations = async (path: string): Promise<unknown[]> => {
      const { json } = (await gateway.get(`${path}?with=replies`)).expect(200);
      return [json['root'], json['replies']];
    };
    assert.deepEqual(await relations(root.path), [root.id, 2]);
    assert.deepEqual(await relations(entry.path), [root.id, 0]);
  }),
];
