/** The long way of a large body: what is kept of it goes to a spool as it comes. */
import type { Kind } from '@open-presence/protocol';

import type { Draft, Spool } from '../log/log.ts';
import { yieldPeriodically } from '../fair-turns.ts';
import { HELD_FACETS } from './facet-list.ts';
import type { Grammar } from './grammar.ts';
import { Reader } from './body-reader.ts';
import { JsonScanner } from '../json/scanner.ts';

/** Bytes read in one go, between looks at the clock: small, since each word sought costs a hash. */
const SLICE = 8 * 1024;
/** What is read is handed to the spool in portions of at least so many bytes. */
const PORTION = 64 * 1024;

export class LargeBody {
  readonly #spool: Spool;
  readonly #reader: Reader;
  readonly #scanner: JsonScanner;
  readonly #fair = yieldPeriodically();

  /** Does not own the spool. */
  constructor(grammar: Grammar, kind: Kind, spool: Spool) {
    const words = grammar.kinds[kind];
    this.#spool = spool;
    this.#reader = new Reader(grammar, words, { capacity: PORTION * 2, facets: HELD_FACETS });
    this.#scanner = new JsonScanner(this.#reader, words.example);
  }

  /** Resolves when the next may come. Throws `malformed-json`. */
  async take(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; from += SLICE) {
      this.#scanner.feed(chunk.subarray(from, from + SLICE));
      if (this.#reader.body.length >= PORTION) await this.#drainBody();
      for (const list of this.#reader.lists) if (list.due) await list.drainTo(this.#spool);
      await this.#fair();
    }
  }

  /** The draft of all that was taken. Throws as `draftOf`. */
  async draft(key: Uint8Array | undefined): Promise<Draft> {
    this.#scanner.end();
    const draft = this.#reader.draft(this.#spool, key);
    await this.#drainBody();
    for (const list of this.#reader.lists) await list.drainTo(this.#spool);
    return draft;
  }

  #drainBody(): Promise<void> {
    return this.#reader.body.drainTo(this.#spool, this.#fair);
  }
}
