// Streams that are cut, that are filtered, that carry large things, and that end.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, suite, test } from 'node:test';

import { EventStream } from '../../conformance/event-stream.ts';
import { uniqueName, Gateway, query, traceBody } from '../../conformance/gateway.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { SeededRandom } from '../seeded-random.ts';
import { allEntries } from './restartable-gateway.ts';
import { ask, readUntil, type Understood } from './raw-stream.ts';
import { sharedGateway } from '../shared.ts';

const MIB = 1024 * 1024;
/** Clients at once. */
const TOGETHER = 8;

suite('an event stream', () => {
  const gateway = sharedGateway();
  let visitor: Gateway;
  before(() => {
    visitor = new Gateway(gateway.url);
  });
  after(() => visitor[Symbol.dispose]());

  test('that is cut at any byte is resumed with each entry once', async () => {
    const identity = uniqueName();
    const said: string[] = [];
    for (const text of ['', 'Ти тут?', '\\u000a\n\r\n\ndata: x\n\n', '🌱'.repeat(9)]) {
      said.push((await visitor.contribute('garden', traceBody(identity, { text }))).entry.text);
    }
    const path = query('/api/garden', [
      ['identity', identity],
      ['after', 0],
      ['limit', said.length],
    ]);
    const all = (seen: Understood): boolean => seen.ended;
    const whole = await readUntil(await ask(gateway.url, path), Infinity, all);
    assert.deepEqual(whole.entries, said);
    const resumed = async (bytes: number): Promise<boolean> => {
      const cut = await readUntil(await ask(gateway.url, path), bytes);
      const last = cut.lastId === undefined ? [] : [`Last-Event-ID: ${cut.lastId}`];
      const left = said.length - cut.entries.length;
      const again = await readUntil(
        await ask(gateway.url, path, last),
        Infinity,
        ({ entries, ended }) => ended || entries.length === left,
      );
      assert.deepEqual([...cut.entries, ...again.entries], said, `cut after ${bytes} bytes`);
      return cut.ended;
    };
    let next = 1;
    const client = async (): Promise<void> => {
      while (!(await resumed(next++)));
    };
    await Promise.all(Array.from({ length: TOGETHER }, client));
  });

  test('that is cut again and again while many speak gives each entry once, in order', async () => {
    const random = new SeededRandom(Math.floor(Math.random() * 2 ** 32));
    const from = String((await visitor.list('/api/garden?limit=0')).head);
    const count = 2000;
    const writers = Array.from({ length: 10 }, async (_, writer) => {
      for (let at = 0; at < count / 10; at += 1) {
        const text = 'x'.repeat(writer === 0 && at % 20 === 0 ? 300_000 : (at * 37) % 500);
        await visitor.contribute('garden', traceBody('Lumen', { text }));
      }
    });
    const readers = Array.from({ length: 3 }, async () => {
      const found: string[] = [];
      for (let last = from; found.length < count;) {
        const bytes = random.chance(0.2) ? random.below(1000) : random.below(400_000);
        const left = count - found.length;
        const headers = [`Last-Event-ID: ${last}`];
        const cut = await readUntil(
          await ask(gateway.url, '/api/events', headers),
          bytes + 1,
          ({ entries }) => entries.length >= left,
        );
        found.push(...cut.entries);
        last = cut.lastId ?? last;
      }
      return found;
    });
    const [found = [], ...others] = await Promise.all(readers);
    await Promise.all(writers);
    const wanted = await allEntries(gateway.url);
    const texts = wanted.filter(({ seq }) => seq > Number(from)).map(({ text }) => text);
    for (const one of [found, ...others]) assert.ok(isSame(one, texts));
  });

  test('carries an entry of 8 MiB whole, to everybody, live and again', async () => {
    const identity = uniqueName();
    const path = query('/api/events', [['identity', identity]]);
    const open = Array.from({ length: 4 }, () => EventStream.open(visitor, path));
    const live = await Promise.all(open);
    const text = 'Ми тут. '.repeat((8 * MIB) / Buffer.byteLength('Ми тут. '));
    const { json } = (await visitor.post('garden', traceBody(identity, { text }))).expect(201);
    const wanted = await visitor.read(`/api/entries/${String(json['id'])}`);
    assert.equal(wanted.fields['text'], text);
    await visitor.contribute('garden', traceBody(identity));
    const again = await EventStream.open(visitor, `${path}&after=0`);
    for (const stream of [...live, again]) {
      const [large, small] = await stream.take(2);
      assert.ok(large?.text === wanted.text, 'byte for byte');
      assert.equal(small?.seq, wanted.seq + 1);
      stream.close();
    }
  });

  test('has what its filter takes, whoever else speaks and however fast', async () => {
    const names = Array.from({ length: 20 }, () => uniqueName());
    const opened = await Promise.all(
      names.map((name) => EventStream.open(visitor, query('/api/events', [['to', name]]))),
    );
    const said = Promise.all(
      names.map(async (name, at) => {
        for (let count = 0; count < 50; count += 1) {
          const to = count % 10 === 0 ? names : [name, names[(at + count) % names.length]];
          await visitor.contribute('shepit', JSON.stringify({ to, count }));
        }
      }),
    );
    await said;
    for (const [at, stream] of opened.entries()) {
      const listing = query('/api/shepit', [
        ['to', names[at] ?? ''],
        ['order', 'oldest'],
      ]);
      const wanted = (await visitor.list(listing)).entries.map(({ text }) => text);
      const taken = (await stream.take(wanted.length)).map(({ text }) => text);
      assert.ok(isSame(taken, wanted));
      stream.close();
    }
  });
});

test('streams and held answers end as they should when the gateway rests', async () => {
  await using gateway = await startGatewayProcess();
  using visitor = new Gateway(gateway.url);
  const { entry } = await visitor.contribute('garden', traceBody('Lumen'));
  const streams = await Promise.all([
    EventStream.open(visitor, '/api/events'),
    EventStream.open(visitor, '/api/events?after=0'),
    EventStream.open(visitor, '/api/garden?identity=nobody'),
  ]);
  let answered = false;
  const held = visitor.get(`/api/garden?after=${entry.seq}&wait=100000`).finally(() => {
    answered = true;
  });
  for (let count = 0; count < 20; count += 1) await visitor.get('/healthz');
  assert.ok(!answered);
  const ending = gateway.stop();
  const [none, one, nobody] = await Promise.all(streams.map((stream) => stream.rest()));
  assert.deepEqual([none, nobody], [[], []]);
  assert.deepEqual(
    one?.map(({ text }) => text),
    [entry.text],
  );
  (await held).expect(200);
  assert.deepEqual(await ending, { code: 0, signal: null });
});

test('a stream that nobody reads does not keep the gateway from resting', async () => {
  await using gateway = await startGatewayProcess();
  using visitor = new Gateway(gateway.url);
  const socket = await ask(gateway.url, '/api/events?after=0');
  const text = 'x'.repeat(60_000);
  for (let count = 0; count < 200; count += 1)
    await visitor.contribute('garden', traceBody('Lumen', { text }));
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null });
  socket.destroy();
  await pause(0);
});

/** Compares without printing megabytes where they differ. */
function isSame(found: readonly string[], wanted: readonly string[]): boolean {
  const at = wanted.findIndex((text, index) => text !== found[index]);
  if (at < 0 && found.length === wanted.length) return true;
  const some = (texts: readonly string[]): string => texts[at]?.slice(0, 200) ?? 'nothing';
  assert.fail(`entry ${at} of ${wanted.length} is ${some(found)}, not ${some(wanted)}`);
}
