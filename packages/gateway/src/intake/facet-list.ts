/**
 * The facets of one member of a body: the first of them in memory, the others on their way to a
 * spool. A duplicate of the member replaces all of them.
 */
import type { Filter } from '@open-presence/protocol';

import type { Facet } from '../log/facet.ts';
import type { Spool } from '../log/log.ts';

/** Of one member. A store holds these in memory until they are indexed. */
export const MAX_FACETS_IN_MEMORY = 64;

export class FacetList {
  readonly filter: Filter;
  readonly #limit: number;
  #first: Facet[] = [];
  #others: Facet[] = [];
  /** Whether the spool has facets of this member, and whether they were replaced since. */
  #isSpooled = false;
  #isStale = false;

  /** Facets beyond `limit` go to a spool. */
  constructor(filter: Filter, limit: number) {
    this.filter = filter;
    this.#limit = limit;
  }

  /** The facets up to the limit. */
  get first(): readonly Facet[] {
    return this.#first;
  }

  add(facet: Facet): void {
    (this.#first.length < this.#limit ? this.#first : this.#others).push(facet);
  }

  clear(): void {
    this.#first = [];
    this.#others = [];
    this.#isStale = this.#isSpooled;
  }

  /** Moves the facets beyond the limit to the spool, and removes replaced ones from it. */
  async flushTo(spool: Spool): Promise<void> {
    if (this.#isStale) {
      await spool.removeFacets(this.filter);
      this.#isStale = false;
      this.#isSpooled = false;
    }
    if (this.#others.length === 0) return;
    await spool.addFacets(Buffer.concat(this.#others), this.filter);
    this.#isSpooled = true;
    this.#others = [];
  }
}
