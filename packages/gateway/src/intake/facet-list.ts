/**
 * The facets of one member of a body: the first of them held, the others on their way to a spool.
 * A member that is spelled again begins anew, and nothing of the old remains.
 */
import type { Filter } from '@open-presence/protocol';

import { FACET_SIZE, type Facet } from '../log/facet.ts';
import type { Spool } from '../log/log.ts';

/** Facets of one member that are held; what a store keeps in memory until it is indexed. */
export const HELD_FACETS = 64;

const NONE = Buffer.alloc(0);

export class FacetList {
  readonly filter: Filter;
  readonly #limit: number;
  #held: Buffer = NONE;
  #heldLength = 0;
  #beyond: Buffer = NONE;
  #beyondLength = 0;
  /** Whether the spool has some, and whether those are still meant. */
  #spooled = false;
  #stale = false;

  /** At most `limit` facets are held. */
  constructor(filter: Filter, limit: number) {
    this.filter = filter;
    this.#limit = limit * FACET_SIZE;
  }

  add(facet: Facet): void {
    if (this.#heldLength < this.#limit) {
      this.#held = withRoom(this.#held, this.#heldLength);
      this.#held.set(facet, this.#heldLength);
      this.#heldLength += FACET_SIZE;
    } else {
      this.#beyond = withRoom(this.#beyond, this.#beyondLength);
      this.#beyond.set(facet, this.#beyondLength);
      this.#beyondLength += FACET_SIZE;
    }
  }

  clear(): void {
    this.#heldLength = 0;
    this.#beyondLength = 0;
    this.#stale = this.#spooled;
  }

  get held(): Uint8Array {
    return this.#held.subarray(0, this.#heldLength);
  }

  /** Whether `drainTo` has something to do. */
  get due(): boolean {
    return this.#stale || this.#beyondLength > 0;
  }

  /** Hands over the facets beyond the limit, after taking back what no longer counts. */
  async drainTo(spool: Spool): Promise<void> {
    if (this.#stale) {
      await spool.removeFacets(this.filter);
      this.#stale = false;
      this.#spooled = false;
    }
    if (this.#beyondLength === 0) return;
    await spool.addFacets(this.#beyond.subarray(0, this.#beyondLength), this.filter);
    this.#spooled = true;
    this.#beyondLength = 0;
  }
}

function withRoom(bytes: Buffer, length: number): Buffer {
  if (length + FACET_SIZE <= bytes.length) return bytes;
  const wider = Buffer.allocUnsafe(Math.max(4 * FACET_SIZE, bytes.length * 2));
  wider.set(bytes.subarray(0, length));
  return wider;
}
