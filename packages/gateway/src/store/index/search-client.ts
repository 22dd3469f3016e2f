/** Asks the index's thread for what has some words. */
import { addAbortListener } from 'node:events';
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import { onCallerEnded } from '../../ended-callers.ts';
import type { LogRead, RankedEntry, RankedQuery, Seq } from '../../log/log.ts';
import { ThreadCaller } from '../../thread-call.ts';
import type { SeqPage, SeqRange, SeqSource } from '../seq-source.ts';
import type {
  Answer,
  FromReader,
  PageRequest,
  RankedPage,
  RankedRequest,
  SearchCalls,
} from './search-calls.ts';

/** A ranked result whose entry has not been read. */
export interface RankedResult extends Pick<RankedEntry, 'next' | 'rankedFrom'> {
  readonly seq: Seq;
}

type MatchesQuery = Pick<PageRequest, 'textQuery' | 'facets' | 'order' | 'all'> & {
  readonly signal: AbortSignal | undefined;
};

const MAX_PAGE = 16 * 1024;

export class SearchClient {
  readonly #port: MessagePort;
  readonly #calls: ThreadCaller<SearchCalls>;
  #lastSearch = 0;
  #closed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    this.#calls = new ThreadCaller(port);
  }

  /**
   * Each page starts where the last one ended. One request may cost as much as all, so each asks for twice as
   * many.
   */
  matches({ signal, ...query }: MatchesQuery, { low, high }: SeqRange): SeqSource {
    const newest = query.order === 'newest';
    const search = this.#newSearch();
    let buffered: SeqPage = { seqs: [], next: newest ? high : low };
    let limit = 0;
    let turns = 0;
    return {
      page: async (from, count) => {
        if (buffered.seqs.length === 0) {
          limit = Math.min(MAX_PAGE, Math.max(count, 2 * limit));
          const wanted = {
            ...query,
            ...(newest ? { low, high: from } : { low: from, high }),
            limit,
          };
          const found = await this.#found(search, signal, () =>
            this.#calls.call('page', { search, wanted, turns }),
          );
          buffered = found.page;
          ({ turns } = found);
        }
        const seqs = buffered.seqs.slice(0, count);
        buffered = { seqs: buffered.seqs.slice(count), next: buffered.next };
        return { seqs, next: buffered.seqs[0] ?? buffered.next };
      },
    };
  }

  async *ranked({ signal, ...query }: RankedQuery, range: SeqRange): LogRead<RankedResult> {
    const search = this.#newSearch();
    const { textQuery, facets, skip, limit } = query;
    let wanted: RankedRequest | undefined = { textQuery, facets, skip, limit, ...range };
    let last: Seq | undefined;
    try {
      for (let left = limit; ;) {
        const request = { search, wanted };
        const page = await this.#found(search, signal, () => this.#calls.call('ranked', request));
        wanted = undefined;
        for (const result of resultsOf(page, range)) {
          yield result;
          last = result.seq;
        }
        left -= page.seqs.length;
        if (!page.more || left === 0) return { last, more: page.more };
      }
    } finally {
      this.#end(search);
    }
  }

  close(): void {
    this.#closed = true;
    this.#calls.close();
    this.#port.close();
  }

  #newSearch(): number {
    this.#lastSearch += 1;
    return this.#lastSearch;
  }

  #end(search: number): void {
    this.#send({ endOfSearch: search });
  }

  #send(message: FromReader): void {
    if (!this.#closed) this.#port.postMessage(message);
  }

  /** Ends the search when the signal is aborted meanwhile, and lets others go first once its caller has ended its half. */
  async #found<Found>(
    search: number,
    signal: AbortSignal | undefined,
    ask: () => Promise<Answer<Found> | undefined>,
  ): Promise<Found> {
    if (this.#closed) throw unavailable();
    signal?.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => {
      this.#end(search);
      aborted.reject(signal?.reason);
    };
    using _aborting = signal && addAbortListener(signal, abort);
    const asked = ask();
    using _telling = signal && onCallerEnded(signal, () => this.#send({ callerEndedOf: search }));
    const answer = await Promise.race([asked, aborted.promise]);
    if (answer === undefined || 'unavailable' in answer) throw unavailable();
    if ('error' in answer) throw answer.error;
    return answer.found;
  }
}

function* resultsOf(
  { seqs, section, skipped, isLast }: RankedPage,
  { low }: SeqRange,
): Generator<RankedResult, void, undefined> {
  const rankedFrom = section.low > low ? section.low : undefined;
  for (const [index, seq] of seqs.entries()) {
    const endsSection = isLast && index === seqs.length - 1 && rankedFrom !== undefined;
    const next = endsSection
      ? { before: rankedFrom, skip: 0 }
      : { before: section.high + 1, skip: skipped + index + 1 };
    yield { seq, next, rankedFrom };
  }
}

export function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Cannot search now: the search index cannot be read. Try again in a moment, or without "q".',
  );
}
