import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';

import { draftOf } from '../../log/log.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { getRequest, openGateway, GARDEN_ENTRY, type TestGateway } from '../../gateway.fixture.ts';

async function open(): Promise<TestGateway> {
  return await openGateway(openMemoryLog());
}

/** The ids of the events of a kind in what was received. */
function idsIn(received: string, kind: string): number[] {
  const frames = received.matchAll(new RegExp(`^id: (\\d+)\nevent: ${kind}\n`, 'gm'));
  return [...frames].map(([, id]) => Number(id));
}

test('a stream without Last-Event-ID starts at the head, and reports it', async () => {
  await using gateway = await open();
  await gateway.addEntries('before');
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/events'));
  const begun = await caller.until(/event: head\n/);
  assert.match(begun, /^HTTP\/1\.1 200 /);
  assert.match(begun, /\r\nContent-Type: text\/event-stream; charset=utf-8\r\n/);
  assert.match(
    begun,
    /retry: \d+\nid: 1\nevent: head\ndata: \{"head":1,"log":"[^"]+","cases":0\}\n\n/,
  );
  await gateway.addEntries('after');
  assert.deepEqual(idsIn(await caller.until(/event: garden\n.*\n\n/), 'garden'), [2]);
});

test('streams opened at different times and cursors send each entry once', async () => {
  await using gateway = await open();
  await gateway.addEntries(...Array.from({ length: 20 }, (_, at) => `${at}`));
  const callers = [];
  for (const after of [0, 5, 19, 20, 25]) {
    const caller = await gateway.connect();
    callers.push({ caller, after });
    caller.send(getRequest(`/api/events?after=${after}`));
    await gateway.addEntries('one', 'more');
  }
  for (const { caller, after } of callers) {
    const received = await caller.until(/^id: 30\nevent: garden\n.*\n\n/m);
    assert.deepEqual(
      idsIn(received, 'garden'),
      Array.from({ length: 30 - after }, (_, at) => after + 1 + at),
    );
    await caller[Symbol.asyncDispose]();
  }
});

test('a caller of HTTP/1.0 gets unchunked events until the connection closes', async () => {
  await using gateway = await open();
  await using caller = await gateway.connect();
  caller.send('GET /api/events?after=0&limit=1 HTTP/1.0\r\nHost: localhost\r\n\r\n');
  await caller.until(/event: head\n/);
  await gateway.addEntries('news');
  const received = await caller.untilClosed();
  assert.match(
    received,
    /\r\n\r\nretry: \d+\nid: 0\nevent: head\ndata: .*\n\nid: 1\nevent: garden\n/,
  );
  assert.match(received, /\}\n\n$/);
});

test('a stream after a pipelined response is sent too', async () => {
  await using gateway = await open();
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/garden?after=0&wait=0.2') + getRequest('/api/events'));
  await caller.until(/event: head\n/);
  await gateway.addEntries('news');
  assert.deepEqual(idsIn(await caller.until(/event: garden\n.*\n\n/), 'garden'), [1]);
});

test('a reader who stalls does not hold up others, and gets everything once it reads again', async () => {
  await using gateway = await open();
  await using stalled = await gateway.connect();
  await using other = await gateway.connect();
  for (const caller of [stalled, other])
    caller.send(getRequest('/api/seeds', 'Accept: text/event-stream'));
  await stalled.until(/event: head\n/);
  await other.until(/event: head\n/);
  stalled.socket.pause();
  const body = JSON.stringify({ text: 'щ'.repeat(20_000) });
  const count = 400;
  for (let at = 0; at < count; at++) {
    const said = await fetch(`${gateway.url}/api/seeds`, { method: 'POST', body });
    await said.arrayBuffer();
  }
  await other.untilText(`\nid: ${count}\n`);
  stalled.socket.resume();
  const all = Array.from({ length: count }, (_, at) => at + 1);
  assert.deepEqual(
    idsIn(
      (await stalled.untilText(`\nid: ${count}\nevent: seeds\n`)).replace(/\r\n[\da-f]+\r\n/g, ''),
      'seeds',
    ),
    all,
  );
  assert.deepEqual(gateway.reported, []);
});

test('a stream that is behind gets every entry, however long the log takes before each read', async () => {
  const log = openMemoryLog();
  const read = log.readText.bind(log);
  log.readText = (selection, joiner) => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    return read(selection, joiner);
  };
  await using gateway = await openGateway(log);
  await gateway.addEntries('one', 'more');
  await using first = await gateway.connect();
  first.send(getRequest('/api/events'));
  await first.until(/event: head\n/);
  // Its group is ahead, so it first reads by itself.
  await using behind = await gateway.connect();
  behind.send(getRequest('/api/events?after=0'));
  assert.deepEqual(idsIn(await behind.until(/^id: 2\nevent: garden\n/m), 'garden'), [1, 2]);
});

test('streams and waiting listings end when the gateway stops', async () => {
  const gateway = await open();
  await using stream = await gateway.connect();
  await using held = await gateway.connect();
  stream.send(getRequest('/api/events', 'Connection: close'));
  held.send(getRequest('/api/garden?after=0&wait=1000', 'Connection: close'));
  await stream.until(/event: head\n/);
  const rest = gateway[Symbol.asyncDispose]();
  assert.match(await stream.untilClosed(), /\r\n0\r\n\r\n$/);
  assert.match(await held.untilClosed(), /"entries":\[\n\],"head":0/);
  await rest;
});

test('a stream requested before the log is open starts once it is open', async () => {
  await using gateway = await openGateway(openMemoryLog(), { starting: true });
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/garden', 'Accept: text/event-stream'));
  await using other = await gateway.connect();
  other.send(getRequest('/readyz'));
  await other.until(/^HTTP\/1\.1 503 /);
  gateway.open();
  await caller.until(/^HTTP\/1\.1 200 [^]*event: head\n/);
});

test('a stream that waits for the log to open does not delay shutdown', async () => {
  const gateway = await openGateway(openMemoryLog(), { starting: true });
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/events'));
  await using other = await gateway.connect();
  other.send(getRequest('/readyz', 'Connection: close'));
  await other.until(/^HTTP\/1\.1 503 /);
  await gateway[Symbol.asyncDispose]();
  assert.equal(await caller.untilClosed(), '');
});

test('a waiting listing is answered as soon as it has a new entry', async () => {
  await using gateway = await open();
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/garden?after=0&wait=1000&identity=Lumen', 'Connection: close'));
  const other = GARDEN_ENTRY.replace('Lumen', 'Mova');
  await (await fetch(`${gateway.url}/api/garden`, { method: 'POST', body: other })).arrayBuffer();
  await gateway.addEntries('news');
  const received = await caller.untilClosed();
  assert.match(received, /"text":"news"/);
  assert.doesNotMatch(received, /Mova/);
});

test('a stream with a limit reads no further once its reader is gone', async () => {
  const log = openMemoryLog();
  await using gateway = await openGateway(log);
  const many = 2000;
  for (let at = 0; at < many; at += 1) await log.append(draftOf());
  let read = 0;
  const ended = Promise.withResolvers<void>();
  const readEntries = log.readEntries.bind(log);
  log.readEntries = async function* (selection) {
    const entries = readEntries(selection);
    try {
      for (let step = await entries.next(); ; step = await entries.next()) {
        if (step.done === true) return step.value;
        read += 1;
        await nextTick();
        yield step.value;
      }
    } finally {
      ended.resolve();
    }
  };
  const caller = await gateway.connect();
  caller.send(getRequest('/api/events?after=0&limit=999999999'));
  await caller.until(/event: garden/);
  await caller[Symbol.asyncDispose]();
  await ended.promise;
  assert.ok(read < many, `${read} entries`);
  assert.deepEqual(gateway.reported, []);
});

test('what follows the request of a stream without an end is not answered, and the stream goes on', async () => {
  await using gateway = await open();
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/events') + getRequest('/api/garden'));
  await caller.until(/event: head\n/);
  caller.send(`${getRequest('/api/garden')}no HTTP at all\r\n\r\n${'x'.repeat(100_000)}`);
  await gateway.addEntries('news');
  const received = await caller.until(/event: garden\n.*\n\n/);
  assert.deepEqual(idsIn(received, 'garden'), [1]);
  assert.equal(received.match(/HTTP\/1\.1/g)?.length, 1);
});

test('a connection is used again after a stream with a limit', async () => {
  await using gateway = await open();
  await gateway.addEntries('one');
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/events?after=0&limit=1') + getRequest('/healthz'));
  const received = await caller.until(/event: garden\n[^]*HTTP\/1\.1 200 [^]*\r\n\r\n/);
  assert.deepEqual(idsIn(received, 'garden'), [1]);
});

test('a stream without an end is ended whole when the gateway stops', async () => {
  await using stack = new AsyncDisposableStack();
  const gateway = stack.use(await open());
  await using caller = await gateway.connect();
  caller.send(getRequest('/api/events'));
  await caller.until(/event: head\n/);
  await stack.disposeAsync();
  assert.match(await caller.untilClosed(), /\n\n\r\n0\r\n\r\n$/);
});
