/** Has entries withheld by the writer's thread. */
import { createHash } from 'node:crypto';

import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { BlockReader } from './block-reader.ts';
import { digestOf } from './chain.ts';
import { isFileFault, largeChunks } from './large-files.ts';
import { sha256 } from './sha256.ts';
import type { WithheldItem } from './decided-withholding.ts';

/** An entry to be withheld. `time`: that of the writer if it is undefined. */
export type WithheldRequestItem = Pick<WithheldItem, 'seq' | 'reason'> & {
  readonly time: number | undefined;
};

export interface WithholdRequest {
  readonly withholding: number;
  readonly items: readonly (WithheldRequestItem & Pick<WithheldItem, 'digest'>)[];
}

/** Sent when nothing is left of what the entries said, or none was withheld. */
export interface WithholdResponse {
  readonly withholding: number;
  /** How many were withheld, or why none was. */
  readonly result: number | 'out-of-space' | 'unavailable';
}

/** Sent before, when it is decided that they are withheld. */
export interface MarkedResponse {
  readonly marked: number;
}

const REFUSED = {
  'out-of-space': 'Nothing was withheld: the disk is full.',
  unavailable: 'Nothing was withheld: the log cannot be written.',
} as const;

/** Leads to the writer's thread. Other messages may come from it, too. */
interface WithholdPort {
  postMessage(request: WithholdRequest): void;
  on(event: 'message', listener: (message: WithholdResponse | object) => void): unknown;
}

interface Pending {
  readonly resolve: (count: number) => void;
  readonly reject: (error: Error) => void;
}

export class WithholdClient {
  readonly #port: WithholdPort;
  readonly #paths: DataPaths;
  readonly #log: BlockReader;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(port: WithholdPort, paths: DataPaths, log: BlockReader) {
    this.#port = port;
    this.#paths = paths;
    this.#log = log;
    port.on('message', (message) => {
      if (!('withholding' in message)) return;
      const { withholding, result } = message;
      const pending = this.#pending.get(withholding);
      this.#pending.delete(withholding);
      if (typeof result === 'number') pending?.resolve(result);
      else pending?.reject(new GatewayError(result, REFUSED[result]));
    });
  }

  /** See `Log.withhold`. */
  async withhold(items: readonly WithheldRequestItem[]): Promise<number> {
    const request: WithholdRequest['items'][number][] = [];
    const takeTurn = yieldPeriodically();
    for (const item of items) {
      const digest = await this.#digest(item.seq);
      if (digest !== undefined) request.push({ ...item, digest });
      await takeTurn();
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#last += 1;
    this.#pending.set(this.#last, { resolve, reject });
    this.#port.postMessage({ withholding: this.#last, items: request });
    return await promise;
  }

  /** To be called before the port is closed. */
  close(): void {
    const message =
      'The log was closed before everything was erased. The next start goes on with it.';
    for (const { reject } of this.#pending.values())
      reject(new GatewayError('unavailable', message));
    this.#pending.clear();
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
