/** A thread's line to the thread of the words. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import type { RankedQuery, ReadEnd, Seq } from '../../../log/log.ts';
import type { Bounds } from '../reader.ts';
import type { Finding, Page } from '../index/seq-finder.ts';
import type { PageAsked } from './finder.ts';
import type { BestAsked } from './best.ts';
import type { Answer, Asking, Question } from './words-thread.ts';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

const NOTHING = { seqs: [], more: false };
/** Seqs of one question at most. */
const MOST_ASKED = 16 * 1024;

export class WordsLine {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #readings = 0;
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

  /**
   * For one reading, which goes on where its page before ended. A question may cost as much as all
   * that is found, so each asks for more than the one before.
   */
  finding(what: Pick<PageAsked, 'textQuery' | 'facets' | 'order'>, { low, high }: Bounds): Finding {
    const newest = what.order === 'newest';
    let held: Page = { seqs: [], from: newest ? high : low };
    let ahead = 0;
    return {
      page: async (from, most) => {
        if (held.seqs.length === 0) {
          const rest = newest ? { low, high: from } : { low: from, high };
          ahead = Math.min(MOST_ASKED, Math.max(most, 2 * ahead));
          const { page } = await this.#ask({ page: { ...what, ...rest, most: ahead } });
          held = page ?? { seqs: [], from: undefined };
        }
        const seqs = held.seqs.slice(0, most);
        held = { seqs: held.seqs.slice(most), from: held.from };
        const [next] = held.seqs;
        return { seqs, from: next ?? held.from };
      },
    };
  }

  /** The seqs of the best. Until it ends, the thread keeps what it ranked. */
  async *best(what: RankedQuery, bounds: Bounds): AsyncGenerator<Seq, ReadEnd, undefined> {
    const { textQuery, facets, skip, limit } = what;
    this.#readings += 1;
    const reading = this.#readings;
    let last: Seq | undefined;
    let left = limit;
    try {
      for (let asked: BestAsked | undefined = { textQuery, facets, ...bounds, skip, limit }; ;) {
        const { best } = await this.#ask({ best: { reading, asked } });
        asked = undefined;
        const { seqs, more } = best ?? NOTHING;
        for (const seq of seqs) yield (last = seq);
        left -= seqs.length;
        if (!more || left === 0) return { last, more };
      }
    } finally {
      if (!this.#closed) this.#port.postMessage({ ended: reading } satisfies Asking);
    }
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
      this.#port.postMessage({ id, ...question } satisfies Asking);
    });
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Cannot search now: what finds words cannot be read. Ask again in a moment, or without "q".',
  );
}
