/**
 * An entry that was withheld: the gateway's members, and when and why (PROTOCOL.md section 4.7). Of what
 * the visitor said it gives nothing, although that is in the row until it is erased.
 */
import type { Kind } from '@open-presence/protocol';

import { facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import type { EntryRow, StoredEntry, WithheldMember } from '../log/entry-row.ts';

/** What the table `withheld` has of an entry. */
export interface WithheldRow extends WithheldMember {
  readonly digest: Uint8Array;
}

export type WithheldLookup = (seq: Seq) => WithheldRow | undefined;

const NO_SALT = Buffer.alloc(16);

export class WithheldEntry implements EntryRow {
  readonly #stored: StoredEntry;
  readonly withheld: WithheldRow;
  readonly large = undefined;
  readonly marked = false;
  readonly portability = 'exact';
  readonly isWhole = true;
  readonly salt: Buffer = NO_SALT;

  constructor(stored: StoredEntry, withheld: WithheldRow) {
    this.#stored = stored;
    this.withheld = withheld;
  }

  get seq(): Seq {
    return this.#stored.seq;
  }

  get time(): number {
    return this.#stored.time;
  }

  get kind(): Kind {
    return this.#stored.kind;
  }

  get room(): string {
    return this.#stored.room;
  }

  get head(): number {
    return this.#stored.head;
  }

  get size(): number {
    return this.text.length;
  }

  get link(): Buffer {
    return this.#stored.link;
  }

  get key(): Buffer | undefined {
    return this.#stored.key;
  }

  get keyHash(): Uint8Array | undefined {
    return this.#stored.keyHash;
  }

  get facets(): Buffer {
    return Buffer.concat([facet('kind', this.kind), facet('room', this.room)]);
  }

  get text(): Buffer {
    const { time, reason } = this.withheld;
    const member = JSON.stringify({ at: new Date(time).toISOString(), reason });
    const own = this.#stored.text.subarray(0, this.head);
    return Buffer.concat([own, Buffer.from(`,"withheld":${member}}`)]);
  }

  get digest(): Uint8Array {
    return this.withheld.digest;
  }
}
