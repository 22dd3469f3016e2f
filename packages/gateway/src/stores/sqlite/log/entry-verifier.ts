import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { RowReader } from './row-reader.ts';
import { FIRST_LINK } from './chain.ts';
import { ChainVerifier, type StoredBody } from './chain-verifier.ts';

interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly body?: StoredBody | undefined;
}

export class EntryVerifier {
  readonly #paths: DataPaths;
  readonly #log: RowReader;

  constructor(log: RowReader, paths: DataPaths) {
    this.#paths = paths;
    this.#log = log;
  }

  /** What is wrong with an entry. `body`: if it was read already. */
  async fault(seq: Seq, { signal, body }: VerifyOptions = {}): Promise<string | undefined> {
    const fault = await this.#faultAfter(seq - 1, seq, { signal, body });
    if (fault === undefined || seq < 2) return fault;
    // It may be the link before that has changed: derive it from the entry before.
    return await this.#faultAfter(seq - 2, seq, { signal, body });
  }

  /** Verifies the entries after `previous` up to `seq`, and returns what is wrong with the last. */
  async #faultAfter(
    previous: Seq,
    seq: Seq,
    { signal, body }: VerifyOptions,
  ): Promise<string | undefined> {
    try {
      const link = previous < 1 ? FIRST_LINK : this.#log.linkOf(previous);
      if (link === undefined) return `cannot be verified without entry ${previous}`;
      const verifier = new ChainVerifier(this.#paths, { seq: previous, link });
      for (let at = previous + 1; at < seq; at += 1) {
        const row = this.#log.entry(at);
        if (row !== undefined) await verifier.verify(row, signal);
      }
      const row = this.#log.entry(seq);
      if (row === undefined) return 'is missing';
      const faults = await verifier.verify(row, signal, body);
      return faults.at(-1)?.description;
    } catch (error) {
      if (isSpoiled(error)) return `cannot be read (${String(error)})`;
      throw error;
    }
  }
}
