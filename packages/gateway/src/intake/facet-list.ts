import type { Filter } from '@open-presence/protocol';

import { FACET_SIZE, type Facet } from '../log/facet.ts';

/**
 * Values of a member that select its entry: more than a body of 64 KiB can have. The facets of all members still
 * fit into a message of a cluster, which may have 1 MiB.
 */
const MAX_FACETS = 25_000;

/** The facets of one member of a body, joined in one growing buffer: an object for each would be a lot of garbage. */
export class FacetList {
  readonly filter: Filter;
  #count = 0;
  #bytes = Buffer.alloc(0);

  constructor(filter: Filter) {
    this.filter = filter;
  }

  get joined(): Uint8Array {
    return this.#bytes.subarray(0, this.#count * FACET_SIZE);
  }

  add(facet: Facet): void {
    if (this.#count === MAX_FACETS) return;
    const at = this.#count * FACET_SIZE;
    if (at === this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], Math.max(4 * FACET_SIZE, 2 * at));
    this.#bytes.set(facet, at);
    this.#count += 1;
  }

  /** For a duplicate of the member, which replaces all of them. */
  clear(): void {
    this.#count = 0;
  }
}
