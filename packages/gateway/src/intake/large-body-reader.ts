/** Reads a large body in chunks, and moves what is stored of it to a spool. */
import type { Kind } from '@open-presence/protocol';

import type { Spool } from '../log/log.ts';
import { yieldPeriodically } from '../fair-turns.ts';
import { JsonScanner } from '../json/scanner.ts';
import { BodyReader } from './body-reader.ts';
import { MAX_FACETS_IN_MEMORY } from './facet-list.ts';
import type { Grammar } from './grammar.ts';
import type { ParsedDraft } from './parsed-draft.ts';

/** Bytes that are read between checks of the clock: few, because each facet costs a hash. */
const SLICE = 8 * 1024;
/** Bytes that are moved to the spool at once, at least. */
const MIN_FLUSH = 64 * 1024;

export class LargeBodyReader {
  readonly #spool: Spool;
  readonly #reader: BodyReader;
  readonly #scanner: JsonScanner;
  readonly #yieldTurn = yieldPeriodically();

  /** Does not own the spool. */
  constructor(grammar: Grammar, kind: Kind, spool: Spool) {
    const kindGrammar = grammar.kinds[kind];
    this.#spool = spool;
    this.#reader = new BodyReader(grammar, kindGrammar, MAX_FACETS_IN_MEMORY);
    this.#scanner = new JsonScanner(this.#reader, kindGrammar.example);
  }

  /** Resolves when the next chunk may follow. Throws `malformed-json`. */
  async feed(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; from += SLICE) {
      this.#scanner.feed(chunk.subarray(from, from + SLICE));
      if (this.#reader.body.length >= MIN_FLUSH) await this.#flushBody();
      await this.#flushFacets();
      await this.#yieldTurn();
    }
  }

  /** The draft of the whole body. Throws like `parseDraft`. */
  async finish(key: Uint8Array | undefined): Promise<ParsedDraft> {
    this.#scanner.end();
    const draft = this.#reader.draft({ body: this.#spool, key }, this.#scanner.portability);
    await this.#flushBody();
    await this.#flushFacets();
    return draft;
  }

  async #flushFacets(): Promise<void> {
    for (const list of this.#reader.facetLists) await list.flushTo(this.#spool);
  }

  #flushBody(): Promise<void> {
    return this.#reader.body.flushTo(this.#spool, this.#yieldTurn);
  }
}
