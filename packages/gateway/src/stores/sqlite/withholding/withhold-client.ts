/** Has entries withheld by another thread. */
import { createHash } from 'node:crypto';

import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { RowReader } from '../log/row-reader.ts';
import { digestOf } from '../log/chain.ts';
import { isFileFault, largeChunks } from '../large/large-files.ts';
import { sha256 } from '../log/sha256.ts';
import type { ItemToWithhold, WithholdFailure } from '../writer/writer-calls.ts';

const REFUSED: Readonly<Record<WithholdFailure, string>> = {
  'out-of-space': 'Nothing was withheld: the disk is full.',
  unavailable: 'Nothing was withheld: the log cannot be written.',
};
const CLOSED = 'The log was closed before everything was erased. The next start goes on with it.';

/** Undefined where the log closes first. */
type Withhold = (items: readonly ItemToWithhold[]) => Promise<number | WithholdFailure | undefined>;

export class WithholdClient {
  readonly #withhold: Withhold;
  readonly #paths: DataPaths;
  readonly #log: RowReader;

  constructor(withhold: Withhold, paths: DataPaths, log: RowReader) {
    this.#withhold = withhold;
    this.#paths = paths;
    this.#log = log;
  }

  /** See `Log.withhold`. */
  async withhold(entries: readonly Omit<ItemToWithhold, 'digest'>[]): Promise<number> {
    const items: ItemToWithhold[] = [];
    const takeTurn = yieldPeriodically();
    for (const entry of entries) {
      const digest = await this.#digest(entry.seq);
      if (digest !== undefined) items.push({ ...entry, digest });
      await takeTurn();
    }
    const result = await this.#withhold(items);
    if (result === undefined) throw new GatewayError('unavailable', CLOSED);
    if (typeof result === 'string') throw new GatewayError(result, REFUSED[result]);
    return result;
  }

  /** Undefined if there is no such entry; empty if its record has lost its form. */
  async #digest(seq: Seq): Promise<Uint8Array | undefined> {
    try {
      const row = this.#log.entry(seq);
      if (row === undefined || row.digest !== undefined) return row?.digest;
      const { large, head, salt, text } = row;
      if (large === undefined) return digestOf(salt, sha256(text.subarray(head + 1, -1)));
      return digestOf(Buffer.from(salt), await this.#largeBodyDigest(large));
    } catch (error) {
      if (isSpoiled(error)) return new Uint8Array();
      throw error;
    }
  }

  /** SHA-256. Of a file that cannot be read, nothing but a wrong one is known. */
  async #largeBodyDigest(large: string): Promise<Uint8Array> {
    const hash = createHash('sha256');
    let last: Uint8Array = Buffer.alloc(0);
    try {
      for await (const chunk of largeChunks(this.#paths, large)) {
        hash.update(last).update(chunk.subarray(0, -1));
        last = Buffer.from(chunk.subarray(-1));
      }
    } catch (error) {
      if (!isFileFault(error)) throw error;
    }
    return hash.digest();
  }
}
