import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import { uniqueName, query, traceBody } from '../gateway.ts';
import { body } from './rooms.ts';

export const oneEntry: readonly Case[] = [
  check('9', 'unchanging', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const before = (await gateway.get(entry.path)).expect(200);
    assert.equal(before.type, 'application/json');
    assert.match(before.header('etag') ?? '', /^"[^"]+"$/);
    await gateway.contribute('garden', traceBody(uniqueName(), { inReplyTo: entry.id }));
    const after = await gateway.get(entry.path);
    assert.equal(after.text, before.text);
    assert.equal(after.header('etag'), before.header('etag'));
    const etag = before.header('etag') ?? '';
    (await gateway.get(entry.path, { 'if-none-match': etag })).expect(304);
    (await gateway.get(entry.path, { 'if-none-match': `W/${etag}` })).expect(304);
    const other = await gateway.contribute('garden', traceBody(uniqueName()));
    assert.notEqual((await gateway.get(other.entry.path)).header('etag'), etag);
  }),
  check('9', 'no-such-entry', async (gateway) => {
    const { id, seq } = (await gateway.contribute('garden', traceBody(uniqueName()))).entry;
    const last = id.endsWith('0') ? '1' : '0';
    const others = [
      randomUUID(),
      'abc',
      String(seq),
      `${id}0`,
      id.slice(0, -1),
      `${id.slice(0, -1)}${last}`,
      id.replaceAll('-', ''),
      `7${id.slice(1)}`,
      '00000000-0000-7000-8000-000000000000',
    ];
    for (const other of others) {
      (await gateway.get(`/api/entries/${other}`)).problem(404, 'not-found');
    }
  }),
  check('9', 'replies', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const [one, other] = [uniqueName(), uniqueName()];
    const path = `${entry.path}/replies`;
    assert.deepEqual((await gateway.list(path)).entries, []);
    const replies = [];
    for (const kind of KINDS) {
      for (const identity of [one, other]) {
        const said = body(kind, identity, { inReplyTo: entry.id });
        replies.push((await gateway.contribute(kind, said)).entry);
      }
    }
    await gateway.contribute('garden', traceBody(one, { inReplyTo: randomUUID() }));
    await gateway.contribute('garden', traceBody(one, { inReplyTo: `${entry.id} ` }));
    const idsAt = async (
      more: readonly (readonly [string, string | number])[],
    ): Promise<string[]> => (await gateway.list(query(path, more))).entries.map(({ id }) => id);
    const ids = replies.map(({ id }) => id);
    assert.deepEqual(await idsAt([]), ids.toReversed());
    assert.deepEqual(await idsAt([['order', 'oldest']]), ids);
    assert.deepEqual(await idsAt([['limit', 1]]), ids.slice(-1));
    const byOne = replies.filter(({ text }) => text.includes(one)).map(({ id }) => id);
    assert.deepEqual(await idsAt([['identity', one]]), byOne.toReversed());
    const seeds = replies.filter(({ kind }) => kind === 'seeds').map(({ id }) => id);
    assert.deepEqual(await idsAt([['kind', 'seeds']]), seeds.toReversed());
    const followed = await gateway.follow(query(path, [['limit', 3]]));
    assert.deepEqual(
      followed.map(({ id }) => id),
      ids.toReversed(),
    );
  }),
];
