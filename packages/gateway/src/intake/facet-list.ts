/**
 * The facets of one member of a body: the first of them in memory, the others on their way to a
 * spool. A duplicate of the member replaces all of them.
 */
import type { Filter } from '@open-presence/protocol';

import { FACET_SIZE, type Facet } from '../log/facet.ts';
import type { Spool } from '../log/log.ts';

/** Of one member. A store holds these in memory until they are indexed. */
export const MAX_FACETS_IN_MEMORY = 64;

class FacetBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  add(facet: Facet): void {
    if (this.length === this.#bytes.length) {
      const wider = Buffer.allocUnsafe(Math.max(4 * FACET_SIZE, this.length * 2));
      wider.set(this.#bytes);
      this.#bytes = wider;
    }
    this.#bytes.set(facet, this.length);
    this.length += FACET_SIZE;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

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
    this.#limit = limit * FACET_SIZE;
  }

  add(facet: Facet): void {
    (this.#first.length < this.#limit ? this.#first : this.#others).add(facet);
  }

  clear(): void {
    this.#first.length = 0;
    this.#others.length = 0;
    this.#isStale = this.#isSpooled;
  }

  /** The facets up to the limit, concatenated. */
  get first(): Uint8Array {
    return this.#first.bytes;
  }

  /** Whether `flushTo` has something to do. */
  get isDirty(): boolean {
    return this.#isStale || this.#others.length > 0;
  }

  /** Moves the facets beyond the limit to the spool, and removes replaced ones from it. */
  async flushTo(spool: Spool): Promise<void> {
    if (this.#isStale) {
      await spool.removeFacets(this.filter);
      this.#isStale = false;
      this.#isSpooled = false;
    }
    if (this.#others.length === 0) return;
    await spool.addFacets(this.#others.bytes, this.filter);
    this.#isSpooled = true;
    this.#others.length = 0;
  }
}
