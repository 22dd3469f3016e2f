import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import { facet } from '../../log/facet.ts';
import { draftOf } from '../../log/log.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { type EventStream, EventStreams } from '../../http/response/event-stream.ts';
import { ENTRY_FRAMES } from './entry-frames.ts';
import { FanOut, type StreamSelection } from './fan-out.ts';

const ALL: StreamSelection = { framing: ENTRY_FRAMES, key: 'all', selection: { facets: [] } };

/** Streams to real readers, each with what it has been given so far. */
async function openStreams(): Promise<
  AsyncDisposable & { open(): Promise<{ stream: EventStream; seqs(): number[] }> }
> {
  const streams = new EventStreams();
  const responses: ((response: ServerResponse) => void)[] = [];
  const server = createServer((_, response) => {
    response.flushHeaders();
    responses.shift()?.(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    async open() {
      const { promise, resolve } = Promise.withResolvers<ServerResponse>();
      responses.push(resolve);
      let text = '';
      get({ host: '127.0.0.1', port }, (answer) => answer.on('data', (piece) => (text += piece)));
      const stream = streams.add(await promise);
      return { stream, seqs: () => [...text.matchAll(/^id: (\d+)$/gm)].map((id) => Number(id[1])) };
    },
    async [Symbol.asyncDispose]() {
      streams.close();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('streams that ask for the same', () => {
  it('hold their filters once', async () => {
    await using log = openMemoryLog();
    await using streams = await openStreams();
    const fanOut = new FanOut(log);
    const wantedNow = (): StreamSelection => ({
      ...ALL,
      selection: { facets: [facet('identity', 'x')] },
    });
    const first = fanOut.shared(wantedNow());
    assert.ok(fanOut.join(first, (await streams.open()).stream, 0));
    assert.equal(fanOut.shared(wantedNow()).selection, first.selection);
  });

  it('never read back to others who have seen less', async () => {
    await using log = openMemoryLog();
    for (let seq = 1; seq <= 100; seq += 1) await log.append(draftOf());
    await using streams = await openStreams();
    const fanOut = new FanOut(log);
    const behind = await streams.open();
    const ahead = await streams.open();
    assert.ok(fanOut.join(ALL, behind.stream, 50));
    // Nobody has been given anything yet: those who are behind make up the group.
    assert.equal(fanOut.target(ALL, 20), 50);
    assert.equal(fanOut.target(ALL, 90), 90);
    assert.equal(fanOut.join(ALL, ahead.stream, 20), undefined);
    assert.ok(fanOut.join(ALL, ahead.stream, 100));
    await log.append(draftOf());
    while (ahead.seqs().length === 0 || !behind.seqs().includes(101)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.deepEqual(ahead.seqs(), [101]);
    assert.deepEqual(
      behind.seqs(),
      Array.from({ length: 51 }, (_, at) => 51 + at),
    );
  });
});
