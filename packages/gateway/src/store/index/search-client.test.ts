import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';

import type { Order, Seq } from '../../log/log.ts';
import { textQuery } from '../../search/search.fixture.ts';
import type { SeqPage } from '../seq-source.ts';
import type { FromReader } from './search-calls.ts';
import { SearchClient } from './search-client.ts';

const MANY = 50_000;

for (const order of ['newest', 'oldest'] satisfies Order[]) {
  it(`a reading of many, the ${order} first, sends a few requests, and has each once`, async () => {
    const { port1, port2 } = new MessageChannel();
    let requests = 0;
    port2.on('message', (message: FromReader) => {
      if (!('call' in message) || message.call !== 'page') return;
      requests += 1;
      const { low, high, limit } = message.request.wanted;
      const count = Math.min(limit, high - low + 1);
      const first = order === 'newest' ? high : low;
      const step = order === 'newest' ? -1 : 1;
      const seqs = Array.from({ length: count }, (_, at) => first + at * step);
      const next = count === high - low + 1 ? undefined : first + count * step;
      const response = { found: { page: { seqs, next }, turns: 0 } };
      port2.postMessage({ reply: message.number, response });
    });
    const client = new SearchClient(port1);
    const query = textQuery('gar*');
    const matches = client.matches(
      { textQuery: query, facets: [], order, signal: undefined },
      { low: 1, high: MANY },
    );
    const given: Seq[] = [];
    for (let at: Seq | undefined = order === 'newest' ? MANY : 1; at !== undefined;) {
      const { seqs, next }: SeqPage = await matches.page(at, 64);
      assert.ok(seqs.length <= 64);
      given.push(...seqs);
      at = next;
    }
    client.close();
    const all = Array.from({ length: MANY }, (_, at) => at + 1);
    assert.deepEqual(given, order === 'newest' ? all.toReversed() : all);
    assert.ok(requests < 20, `${requests} requests`);
  });
}
