/**
 * The facets of one member of a body: the first ones in memory, the others in a spool. A duplicate of the member
 * replaces all of them.
 */
import type { Filter } from '@open-presence/protocol';

import { FACET_SIZE, type Facet } from '../log/facet.ts';
import type { Spool } from '../log/log.ts';

/** How many facets of one member a store holds in memory until they are indexed. */
export const MAX_FACETS_IN_MEMORY = 64;

export class FacetList {
  readonly filter: Filter;
  readonly #limit: number;
  readonly #first = new FacetBuffer();
  readonly #others = new FacetBuffer();
  /** Whether the spool has facets of this member, and whether they were replaced since. */
  #isSpooled = false;
  #isStale = false;

  /** Facets beyond `limit` go to a spool. */
  constructor(filter: Filter, limit: number) {
    this.filter = filter;
    this.#limit = limit;
  }

  /** The facets up to the limit, joined. */
  get first(): Uint8Array {
    return this.#first.joined;
  }

  add(facet: Facet): void {
    (this.#first.count < this.#limit ? this.#first : this.#others).add(facet);
  }

  clear(): void {
    this.#first.count = 0;
    this.#others.count = 0;
    this.#isStale = this.#isSpooled;
  }

  /** Moves the facets beyond the limit to the spool, and removes replaced ones from it. */
  async flushTo(spool: Spool): Promise<void> {
    if (this.#isStale) {
      await spool.removeFacets(this.filter);
      this.#isStale = false;
      this.#isSpooled = false;
    }
    if (this.#others.count === 0) return;
    await spool.addFacets(this.#others.joined, this.filter);
    this.#isSpooled = true;
    this.#others.count = 0;
  }
}

/** Joined facets, in bytes that are used again: a million objects would be a lot of garbage. */
class FacetBuffer {
  count = 0;
  #bytes = Buffer.alloc(0);

  get joined(): Uint8Array {
    return this.#bytes.subarray(0, this.count * FACET_SIZE);
  }

  add(facet: Facet): void {
    const at = this.count * FACET_SIZE;
    if (at === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], Math.max(4 * FACET_SIZE, 2 * at));
    }
    this.#bytes.set(facet, at);
    this.count += 1;
  }
}
