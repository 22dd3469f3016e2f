/**
 * What was acknowledged, apart from any store, and whether a log gives it back: every entry once with
 * its text.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { GatewayError } from '@open-presence/protocol';

import { KINDS, type Kind } from '../../../conformance/entry.ts';
import { PATIENCE_MS } from '../../../conformance/until.ts';
import { facet } from '../../../packages/gateway/src/log/facet.ts';
import { draftOf } from '../../../packages/gateway/src/log/log.fixture.ts';
import type {
  AppendResult,
  Draft,
  Log,
  Order,
  Seq,
} from '../../../packages/gateway/src/log/log.ts';
import { textQuery } from '../../../packages/gateway/src/search/search.fixture.ts';

interface Acknowledged {
  readonly kind: Kind;
  /** The gateway's members, without the closing brace. */
  readonly own: string;
  readonly body: string;
}

/** What of a log could be read. */
export interface Reading {
  /** The entries that were left out, and cannot be read by themselves either. */
  readonly lost: ReadonlySet<Seq>;
  /** Why something could not be read at all. */
  readonly errors: readonly Error[];
}

interface ReadingOptions {
  readonly mayLack?: boolean;
  readonly mayRefuse?: boolean;
  readonly mayLag?: boolean;
}

/** Where search may never catch up, it need not be waited for. */
const REFUSAL_MS = 2000;
/** Larger ones are in files. */
const MAX_ROW_SIZE = 64 * 1024;
const OWN_SEQ = /^\{"id":"[\da-f-]{36}","seq":(\d+),/;

export class Remembered {
  readonly #entries: Map<Seq, Acknowledged>;
  /** Each may be in the log nevertheless (PROTOCOL.md section 7.6). */
  readonly #refused: string[] = [];

  constructor(other?: Remembered) {
    this.#entries = new Map(other === undefined ? [] : other.#entries);
  }

  /** Appends an entry of about this size. Returns whether it was acknowledged. */
  async append(log: Log, kind: Kind, size: number): Promise<boolean> {
    const body = `"text":"moss ${randomUUID()} ${'x'.repeat(size)}"`;
    const result = await resultOf(log, draftOf({ kind, body }));
    if (result.outcome !== 'appended') {
      this.#refused.push(body);
      return false;
    }
    const { id, seq, room, time } = result.metadata;
    assert.ok(!this.#entries.has(seq), `the seq ${seq} is given once`);
    const own = { id, seq, kind, room, timestamp: new Date(time).toISOString() };
    this.#entries.set(seq, { kind, own: JSON.stringify(own).slice(0, -1), body });
    return true;
  }

  /**
   * Reads all there is in several ways. Throws an `AssertionError` where an answer is wrong. `mayLack`:
   * whether listings and counts may leave out lost entries. `mayRefuse`:
   * whether search may never catch up with the log. `mayLag`: whether it may find only what it knows.
   */
  async read(
    log: Log,
    { mayLack = false, mayRefuse = false, mayLag = false }: ReadingOptions = {},
  ): Promise<Reading> {
    const lost = new Set<Seq>();
    const errors: Error[] = [];
    const attempt = async (step: () => Promise<void>): Promise<void> => {
      try {
        await step();
      } catch (error) {
        if (!(error instanceof Error) || error instanceof assert.AssertionError) throw error;
        errors.push(error);
      }
    };
    const readings = [
      ...KINDS.map((kind) => [kind, 'newest'] as const),
      [undefined, 'oldest'] as const,
    ];
    for (const [kind, order] of readings) {
      await attempt(async () => {
        const facets = kind === undefined ? [] : [facet('kind', kind)];
        const texts = await textOf(log.readText({ facets, order }, ',\n'));
        for (const seq of this.#missingIn(texts, kind, order)) {
          const isLost = mayLack && (await log.entry(seq)) === undefined;
          assert.ok(isLost, `${kind} ${order} lacks entry ${seq}`);
          lost.add(seq);
        }
      });
    }
    // Where a listing was refused, nobody can tell how many it lacks.
    const lacked = errors.length > 0 ? Number.POSITIVE_INFINITY : lost.size;
    await attempt(async () => this.#compareCounts(log, mayLack ? lacked : 0));
    await attempt(async () => {
      if (!mayLag) await untilCaughtUp(log, mayRefuse ? REFUSAL_MS : PATIENCE_MS);
      await this.#compareSearch(log, lost);
    });
    return { lost, errors };
  }

  /** Returns the seqs of the entries that are not there. */
  #missingIn(texts: string, wanted: Kind | undefined, order: Order): Set<Seq> {
    const name = `${wanted ?? 'everything'}, ${order} first,`;
    const missing = new Set(this.#seqsOf(wanted));
    let last = order === 'newest' ? Infinity : 0;
    for (const text of texts === '' ? [] : texts.split(',\n')) {
      const seq = Number(OWN_SEQ.exec(text)?.[1]);
      assert.ok(order === 'newest' ? seq < last : seq > last, `${name} keeps its order`);
      last = seq;
      const entry = this.#entries.get(seq);
      const start = text.slice(0, 300);
      if (entry === undefined) assert.ok(this.#wasRefused(text), `${name} has ${start}`);
      else assert.ok(text === `${entry.own},${entry.body}}`, `${name} has another ${start}`);
      missing.delete(seq);
    }
    return missing;
  }

  /** `lost`: how many entries may not be counted, because nobody can tell their kind. */
  #compareCounts(log: Log, lost: number): void {
    const rooms = log.roomCounts();
    for (const kind of KINDS) {
      const own = rooms.filter((room) => room.kind === kind);
      const count = own.reduce((sum, room) => sum + room.count, 0);
      const beyond = count - this.#seqsOf(kind).length;
      assert.ok(beyond >= -lost && beyond <= this.#refused.length, `the rooms count ${kind}`);
    }
  }

  /** As far as search knows the log. */
  async #compareSearch(log: Log, lost: ReadonlySet<Seq>): Promise<void> {
    const known = log.searchWatermark();
    const selection = { facets: [], textQuery: textQuery('moss'), order: 'oldest' } as const;
    const found = await Array.fromAsync(log.readEntries(selection), ({ metadata }) => metadata.seq);
    const isKnown = (seq: Seq): boolean => seq <= known && this.#entries.has(seq) && !lost.has(seq);
    assert.deepEqual(found.filter(isKnown), this.#seqsOf(undefined).filter(isKnown));
  }

  #seqsOf(kind: Kind | undefined): Seq[] {
    const entries = [...this.#entries];
    return entries.filter(([, one]) => kind === undefined || one.kind === kind).map(([seq]) => seq);
  }

  #wasRefused(text: string): boolean {
    return this.#refused.some((body) => text.endsWith(`,${body}}`));
  }
}

async function untilCaughtUp(log: Log, patience: number): Promise<void> {
  const end = performance.now() + patience;
  while (log.searchWatermark() < log.head()) {
    if (performance.now() > end) throw new GatewayError('unavailable', 'search does not catch up');
    await pause(20);
  }
}

async function resultOf(
  log: Log,
  draft: Draft & { readonly body: Uint8Array },
): Promise<AppendResult> {
  if (draft.body.length <= MAX_ROW_SIZE) return await log.append(draft);
  const spool = log.spool();
  try {
    await spool.write(draft.body);
    return await log.append({ ...draft, body: spool });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { outcome: 'refused', code: 'unavailable' };
  }
}

async function textOf(read: AsyncIterable<Uint8Array> | readonly Uint8Array[]): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of read) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
