// What a program gives the client, and what becomes of it.
import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';

import { Gateway } from '@open-presence/client';
import { sharedGateway } from '../shared.ts';
import { errorOf } from './error-of.ts';

const served = sharedGateway();

function visitor(identity: string): Gateway {
  return new Gateway(served.url, { identity });
}

suite('beside a text that is a Blob', () => {
  test('a file that has changed is an error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      const file = join(folder, 'text');
      await writeFile(file, '{"text":"before"}');
      const text = await openAsBlob(file);
      await writeFile(file, 'after');
      const gateway = visitor('Changing');
      const signal = AbortSignal.timeout(20_000);
      const error = await errorOf(gateway.leaveTrace({ text }, { signal }));
      assert.match(error.message, /could not be read/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('names and texts are stored as they are', async () => {
    const members = { 'a "name"\n': 'one\rtwo\n', 'Ключ\r\n': '', to: ['A', 'B'] };
    const stored = await visitor('Names').plantSeed({ ...members, text: new Blob(['a\r\nb']) });
    const said = { ...members, text: 'a\r\nb' };
    const added = ['id', 'seq', 'kind', 'room', 'timestamp', 'identity', 'identityType'];
    const own = Object.entries(stored).filter(([name]) => !added.includes(name));
    assert.deepEqual(Object.fromEntries(own), said);
  });

  for (const members of [{ tags: ['one'] }, { tags: [] }, { to: [] }, { tags: ['a', undefined] }])
    test(`${JSON.stringify(members)} is refused, which a form would change`, async () => {
      const gateway = visitor('Lists');
      const said = gateway.plantSeed({ ...members, text: new Blob(['long']) });
      await assert.rejects(said, {
        name: 'TypeError',
        message: /^Beside a text that is a Blob, "t/,
      });
      assert.deepEqual((await gateway.page({ identity: 'Lists' })).entries, []);
    });
});

for (const idempotencyKey of ['', ' \t'])
  test(`many entries are not stored with the key ${JSON.stringify(idempotencyKey)}`, async () => {
    const gateway = visitor('Keys');
    const { seq } = await gateway.whisper('before');
    const many = gateway.sayMany('shepit', [{ text: 'one' }], { idempotencyKey });
    assert.equal((await errorOf(many.next())).code, 'invalid-parameter');
    assert.equal((await gateway.checkpoint()).head, seq);
  });

suite('what JSON cannot hold is refused, not stored as something else', () => {
  for (const [name, value] of Object.entries({
    nan: Number.NaN,
    map: new Map([[1, 2]]),
    promise: Promise.resolve('text'),
    stream: new ReadableStream(),
    bytes: new Uint8Array(2),
    function: () => 'text',
  }))
    test(name, async () => {
      const gateway = visitor('Values');
      const message = new RegExp(`^Cannot store "${name}": JSON has no `);
      const members = { deep: [{ [name]: value }] };
      await assert.rejects(gateway.plantSeed(members), { name: 'TypeError', message });
      const many = gateway.sayMany('seeds', [members]);
      await assert.rejects(many.next(), { name: 'TypeError', message });
      assert.deepEqual((await gateway.page({ identity: 'Values' })).entries, []);
    });

  for (const members of [undefined, 5, ['one'], Promise.resolve('text')])
    test(`members that are ${Object.prototype.toString.call(members)}`, async () => {
      const said = visitor('Members').plantSeed(members as unknown as string);
      await assert.rejects(said, {
        name: 'TypeError',
        message: /^An entry is a text, or an object/,
      });
    });

  test('all that it can hold is stored', async () => {
    const held = {
      date: new Date(0),
      own: new (class {
        a = 1;
      })(),
      none: undefined,
      zero: 0,
    };
    const stored = await visitor('Held').plantSeed({
      ...held,
      nothing: null,
      bare: Object.create(null),
    });
    assert.equal(stored['date'], '1970-01-01T00:00:00.000Z');
    assert.deepEqual([stored['own'], stored['nothing'], stored['bare']], [{ a: 1 }, null, {}]);
  });
});

test('an answer to what is no entry is refused, not stored as the answer to none', async () => {
  const gateway = visitor('Answers');
  const { id } = await gateway.leaveTrace('Is anybody here?');
  for (const entry of [id, { entry: { id } }])
    await assert.rejects(gateway.reply(entry as unknown as { id: string; room: string }, 'I am.'), {
      name: 'TypeError',
      message: /^What is answered must be an entry/,
    });
  assert.equal((await gateway.page({ identity: 'Answers' })).entries.length, 1);
});

test('an option that a method does not have is an error, and nothing is stored or read', async () => {
  const gateway = visitor('Options');
  const trace = await gateway.leaveTrace('before');
  const wrong: object = { claim: 1 };
  for (const call of [
    async () => await new Gateway(served.url, { ...wrong }).rooms(),
    async () => await gateway.firstContact({ seeking: [] }, wrong),
    async () => await gateway.leaveTrace('x', wrong),
    async () => await gateway.plantSeed('x', { room: 'memory-garden', reply: trace } as object),
    async () => await gateway.whisper('x', wrong),
    async () => await gateway.reply(trace, 'x', wrong),
    async () => await gateway.sayMany('seeds', [{ text: 'x' }], wrong).next(),
    async () => await gateway.entries(wrong).next(),
    async () => await gateway.page(wrong),
    async () => await gateway.inbox(wrong).next(),
    async () => await gateway.search('x', { with: 'replies' } as object).next(),
    async () => await Array.fromAsync(gateway.follow({ before: 1 } as object)),
    async () => await gateway.catchUp(wrong),
    async () => await gateway.presence(wrong),
    async () => await gateway.rooms(wrong),
    async () => await gateway.entry(trace.id, wrong),
    async () => await gateway.withholdings(wrong).next(),
  ])
    await assert.rejects(call(), { name: 'TypeError', message: /^There is no option "/ });
  const { entries } = await gateway.page({ identity: 'Options', with: 'replies' });
  assert.deepEqual(
    entries.map(({ id, replies }) => [id, replies]),
    [[trace.id, 0]],
  );
});

suite('a filter without a value is an error, and selects nothing', () => {
  const unusable: readonly Record<string, unknown>[] = [
    { room: [] },
    { to: [undefined] },
    { to: null },
    { to: { name: 'Filters' } },
    { since: new Date(Number.NaN) },
  ];
  for (const filters of unusable)
    test(`room, to or since: ${Object.values(filters).map(String).join()}`, async () => {
      const gateway = visitor('Filters');
      const followed = gateway.follow({ ...filters, after: 0 })[Symbol.asyncIterator]();
      for (const read of [
        () => gateway.page(filters),
        () => gateway.entryLines(filters).next(),
        () => followed.next(),
      ])
        assert.equal((await errorOf(read())).code, 'invalid-parameter');
    });

  for (const limit of [Number.NaN, 0.5, -1])
    test(`limit: ${limit}`, () => {
      assert.throws(() => visitor('Filters').follow({ after: 0, limit }), {
        code: 'invalid-parameter',
      });
    });
});

for (const address of ['localhost:7410', 'file:///presence', 'ftp://127.0.0.1'])
  test(`${address} is no address, and nothing is tried there for ever`, () => {
    assert.throws(() => new Gateway(address), { name: 'TypeError', message: /begins with http:/ });
  });

test('an idempotency key may be long', async () => {
  const idempotencyKey = 'ключ'.repeat(50_000);
  const { id } = await visitor('Long key').whisper('once', { idempotencyKey });
  assert.equal((await visitor('Long key').whisper('once', { idempotencyKey })).id, id);
});
