import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { check, type Case } from '../case.ts';
import { KINDS } from '../entry.ts';
import { uniqueName, query, traceBody } from '../gateway.ts';
import { body } from './rooms.ts';
import { asObject, pluck } from '../value.ts';

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
  check('9', 'references', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    const { id, path } = entry;
    const forms = [
      id,
      id.toUpperCase(),
      path,
      path.replace(id, id.toUpperCase()),
      `${gateway.base.origin}${path}`,
      `https://presence.example/some/where${path}/?as=Lumen#top`,
      `/entries/${id}`,
      `https://presence.example/entries/${id}`,
      `urn:uuid:${id}`,
      `presence://entries/${id}`,
    ];
    const padding = 'x'.repeat(100_000);
    const replies: string[] = [];
    for (const inReplyTo of forms) {
      for (const more of [{}, { id: 1 }, { padding }]) {
        const { answer, entry: reply } = await gateway.contribute(
          'seeds',
          JSON.stringify({ inReplyTo, ...more }),
        );
        assert.ok(!('notes' in answer.json), inReplyTo);
        const kept = await gateway.read(reply.path);
        assert.equal(kept.fields['inReplyTo'], inReplyTo);
        replies.unshift(reply.id);
      }
    }
    for (const form of forms) {
      const { entries } = await gateway.list(query('/api/entries', [['inReplyTo', form]]));
      assert.deepEqual(
        entries.map((one) => one.id),
        replies,
        form,
      );
    }
    const { entries } = await gateway.list(`/api/entries/${id.toUpperCase()}/replies`);
    assert.deepEqual(pluck(entries, 'id'), replies);
  }),
  check('9', 'by-seq', async (gateway) => {
    const { entry: root } = await gateway.contribute('garden', traceBody(uniqueName()));
    const replies: string[] = [];
    for (const inReplyTo of [root.seq, String(root.seq), `/api/entries/${root.seq}`]) {
      const answer = await gateway.contribute('seeds', JSON.stringify({ inReplyTo }));
      assert.ok(!('notes' in answer.answer.json));
      const { path, id } = answer.entry;
      assert.equal((await gateway.read(path)).fields['inReplyTo'], inReplyTo);
      replies.push(id);
    }
    const own = `/api/entries/${root.seq}`;
    assert.equal(asObject((await gateway.get(own)).expect(200).json)['id'], root.id);
    const lists: readonly [string, readonly string[]][] = [
      [`${own}/replies?order=oldest`, replies],
      [`/api/entries?inReplyTo=${root.seq}&order=oldest`, replies],
      [`/api/entries?inReplyTo=${root.id}&order=oldest`, replies],
      [`/api/entries?thread=${root.seq}&order=oldest`, [root.id, ...replies]],
    ];
    for (const [path, ids] of lists)
      assert.deepEqual(pluck((await gateway.list(path)).entries, 'id'), ids, path);
    const later = { inReplyTo: 999_999_999_999 };
    const { answer } = await gateway.contribute('seeds', JSON.stringify(later));
    assert.match(JSON.stringify(answer.json['notes']), /inReplyTo/);
  }),
  check('9', 'no-such-entry', async (gateway) => {
    const { id } = (await gateway.contribute('garden', traceBody(uniqueName()))).entry;
    const last = id.endsWith('0') ? '1' : '0';
    const others = [
      randomUUID(),
      'abc',
      `${id}0`,
      id.slice(0, -1),
      `${id.slice(0, -1)}${last}`,
      id.replaceAll('-', ''),
      `7${id.slice(1)}`,
      '00000000-0000-7000-8000-000000000000',
      '0',
    ];
    for (const other of others) {
      (await gateway.get(`/api/entries/${other}`)).problem(404, 'not-found');
    }
  }),
  check('9', 'range', async (gateway) => {
    for (const text of ['short', 'щ'.repeat(2 ** 18)]) {
      const { entry } = await gateway.contribute('garden', traceBody(uniqueName(), { text }));
      const whole = (await gateway.get(entry.path)).expect(200);
      const { bytes } = whole;
      assert.equal(whole.header('accept-ranges'), 'bytes');
      const etag = whole.header('etag') ?? '';
      const size = bytes.length;
      const ranges: [string, number, number][] = [
        ['bytes=0-0', 0, 0],
        ['bytes=3-', 3, size - 1],
        [`BYTES=${size - 1}-`, size - 1, size - 1],
        ['bytes=-7', size - 7, size - 1],
        [`bytes=-${size * 2}`, 0, size - 1],
        [`bytes=5-${size * 2}`, 5, size - 1],
        ['bytes=100-149', 100, 149],
      ];
      for (const [range, first, last] of ranges) {
        for (const more of [{}, { 'if-range': etag }, { 'accept-encoding': 'gzip' }]) {
          const part = (await gateway.get(entry.path, { range, ...more })).expect(206);
          assert.deepEqual(part.bytes, bytes.subarray(first, last + 1));
          assert.equal(part.header('content-range'), `bytes ${first}-${last}/${size}`);
          assert.equal(part.header('etag'), etag);
          assert.equal(part.header('content-encoding'), undefined);
        }
      }
      (await gateway.get(entry.path, { range: 'bytes=0-', 'if-none-match': etag })).expect(304);
    }
  }),
  check('9', 'if-range', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const etag = (await gateway.get(entry.path)).header('etag') ?? '';
    for (const tag of [
      '"x"',
      `W/${etag}`,
      `${etag.slice(0, -1)}-gzip"`,
      new Date().toUTCString(),
    ]) {
      const headers = { range: 'bytes=0-3', 'if-range': tag };
      assert.equal((await gateway.get(entry.path, headers)).expect(200).text, entry.text);
    }
  }),
  check('9', 'no-range', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const size = Buffer.byteLength(entry.text);
    for (const range of [`bytes=${size}-`, `bytes=${2 ** 60}-`, 'bytes=-0']) {
      const answer = await gateway.get(entry.path, { range });
      answer.problem(416, 'invalid-parameter');
      assert.equal(answer.header('content-range'), `bytes */${size}`);
    }
    for (const range of ['bytes=0-1,3-4', 'bytes=4-3', 'bytes=-', 'lines=1-2', 'bytes', '']) {
      assert.equal((await gateway.get(entry.path, { range })).expect(200).text, entry.text);
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
    assert.deepEqual(pluck(followed, 'id'), ids.toReversed());
  }),
];
