import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';

import type { Order, Seq } from '../../../log/log.ts';
import { WordsLine } from './client.ts';
import type { Answer, Question } from './words-thread.ts';

const MANY = 50_000;

for (const order of ['newest', 'oldest'] satisfies Order[]) {
  it(`a reading of many, the ${order} first, asks a few questions, and has each once`, async () => {
    const { port1, port2 } = new MessageChannel();
    let questions = 0;
    port2.on('message', ({ id, page }: Question) => {
      questions += 1;
      const { low = 0, high = 0, most = 0 } = page ?? {};
      const count = Math.min(most, high - low + 1);
      const first = order === 'newest' ? high : low;
      const step = order === 'newest' ? -1 : 1;
      const seqs = Array.from({ length: count }, (_, at) => first + at * step);
      const from = count === high - low + 1 ? undefined : first + count * step;
      port2.postMessage({ id, page: { seqs, from } } satisfies Answer);
    });
    const line = new WordsLine(port1);
    const textQuery = { all: [{ words: ['gar'], isPrefix: true }], none: [] };
    const finding = line.finding({ textQuery, facets: [], order }, { low: 1, high: MANY });
    const given: Seq[] = [];
    for (let at: Seq | undefined = order === 'newest' ? MANY : 1; at !== undefined;) {
      const { seqs, from } = await finding.page(at, 64);
      assert.ok(seqs.length <= 64);
      given.push(...seqs);
      at = from;
    }
    line.close();
    const all = Array.from({ length: MANY }, (_, at) => at + 1);
    assert.deepEqual(given, order === 'newest' ? all.toReversed() : all);
    assert.ok(questions < 20, `${questions} questions`);
  });
}
