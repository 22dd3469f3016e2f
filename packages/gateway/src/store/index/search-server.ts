/** Answers the searches of one reader's thread, in the index's thread, in fair turns. */
import { GatewayError } from '@open-presence/protocol';

import { callerEnded } from '../../ended-callers.ts';
import { Turns } from '../../fair-turns.ts';
import { isStorageFault } from '../../storage-fault.ts';
import { pageOfMatches, type SearchContext } from './matches.ts';
import { nextPage, rankedPages, type RankedPages } from './ranked.ts';
import type { Answer, SearchCalls } from './search-calls.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

interface OpenSearch {
  readonly ending: AbortController;
  readonly turns: Turns;
  readonly pages: RankedPages | undefined;
}

export class SearchServer implements SearchCalls {
  readonly #context: SearchContext;
  readonly #open = new Map<number, OpenSearch>();

  constructor(context: SearchContext) {
    this.#context = context;
  }

  readonly page: SearchCalls['page'] = async ({ search, wanted, turns }) => {
    const open = this.#begin(search, { turns });
    const answer = await this.#answer(search, open, pageOfMatches(this.#context, wanted));
    this.end(search);
    if (!('found' in answer)) return answer;
    return { found: { page: answer.found, turns: open.turns.had } };
  };

  readonly ranked: SearchCalls['ranked'] = async ({ search, wanted }) => {
    const open =
      wanted === undefined
        ? this.#open.get(search)
        : this.#begin(search, { pages: rankedPages(this.#context, wanted) });
    if (open?.pages === undefined) return { unavailable: true };
    return await this.#answer(search, open, nextPage(open.pages));
  };

  callerEnded(search: number): void {
    const open = this.#open.get(search);
    if (open !== undefined) callerEnded(open.ending.signal);
  }

  end(search: number): void {
    const open = this.#open.get(search);
    this.#open.delete(search);
    open?.ending.abort();
    open?.pages?.return();
  }

  endAll(): void {
    for (const search of this.#open.keys()) this.end(search);
  }

  #begin(
    search: number,
    { turns = 0, pages }: { turns?: number; pages?: RankedPages },
  ): OpenSearch {
    const ending = new AbortController();
    const open = { ending, turns: new Turns(ending.signal, turns), pages };
    this.#open.set(search, open);
    return open;
  }

  async #answer<Found>(
    search: number,
    { ending: { signal }, turns }: OpenSearch,
    steps: SearchSteps<Found>,
  ): Promise<Answer<Found>> {
    try {
      await turns.next();
      return { found: await takeSteps(steps, turns, signal) };
    } catch (error) {
      const isUnavailable =
        signal.aborted || isStorageFault(error) || error instanceof GatewayError;
      this.end(search);
      return isUnavailable ? { unavailable: true } : { error };
    }
  }
}
