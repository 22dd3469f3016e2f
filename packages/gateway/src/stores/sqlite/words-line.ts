/** A thread's line to the thread of the words. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import type { Best, ReadEnd, Seq } from '../../log/log.ts';
import type { Bounds } from './reader.ts';
import type { Page } from './search.ts';
import type { BestAsked, PageAsked, Ranked } from './words-finder.ts';
import type { Answer, Question } from './words-thread.ts';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** How many of the best are asked for at once. */
const BEST_AT_ONCE = 1024;

export class WordsLine {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #closed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: Answer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.failed === undefined) waiting?.resolve(answer);
      else waiting?.reject(unavailable());
    });
  }

  async page(page: PageAsked): Promise<Page> {
    const answer = await this.#ask({ page });
    return answer.page ?? { seqs: [], from: undefined };
  }

  /** The seqs of the best, some at a time. */
  async *best(
    { says, facets, ...what }: Best,
    { low, high }: Bounds,
  ): AsyncGenerator<Seq, ReadEnd, undefined> {
    let behind: Ranked | undefined;
    let more = low <= high;
    for (let { skip, limit: left } = what; more; skip = 0) {
      const most = Math.min(left, BEST_AT_ONCE);
      const best: BestAsked = { says, facets, low, high, skip, behind, most };
      const { best: answer } = await this.#ask({ best });
      const found = answer?.found ?? [];
      for (const { seq } of found) yield seq;
      left -= found.length;
      behind = found.at(-1);
      more = answer?.more ?? false;
      if (left === 0 || behind === undefined) break;
    }
    return { last: behind?.seq, more };
  }

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(unavailable());
    this.#waiting.clear();
    this.#port.close();
  }

  #ask(question: Omit<Question, 'id'>): Promise<Answer> {
    if (this.#closed) throw unavailable();
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port.postMessage({ id, ...question } satisfies Question);
    });
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Cannot search now: what finds words cannot be read. Ask again in a moment, or without "q".',
  );
}
