/**
 * What a copy of a cluster has applied of its stream. It is committed in the transaction that applies
 * it, in rows of the table `meta`, so that a message is applied once however often it is delivered.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { readMeta } from '../database.ts';

/** Where a copy stands in its stream. */
export interface StreamPosition {
  /** The last message that was applied, by its sequence in the stream. */
  readonly position: number;
  /** The message to read on from: before the position where an upload was unfinished. */
  readonly resumeAt: number;
  /** The newest entry when it was applied. */
  readonly head: Seq;
}

/** Who published a message, and which of its messages it is. */
export interface MessageOrigin {
  /** In hex: another one for each start of a gateway. */
  readonly publisher: string;
  /** Counts the publisher's messages from 1. */
  readonly number: number;
  /** Its messages up to this number are not published again. */
  readonly settled: number;
}

/** Which messages of a publisher were applied. */
interface AppliedNumbers {
  readonly settled: number;
  /** Those above `settled`. */
  readonly above: readonly number[];
}

const NAME = 'stream';

/** Undefined for a log that no stream has filled. */
export function readStreamPosition(db: DatabaseSync): StreamPosition | undefined {
  const stored = readMeta(db, NAME);
  return stored === undefined ? undefined : (JSON.parse(String(stored)) as StreamPosition);
}

export class StreamProgress {
  readonly #db: DatabaseSync;
  readonly #store: StatementSync;
  readonly #applied = new Map<string, AppliedNumbers>();
  readonly #changed = new Set<string>();
  #position: number;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#store = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
    this.#position = readStreamPosition(db)?.position ?? 0;
  }

  /** Returns whether the message is to be applied: false if it was, perhaps at an earlier position. */
  advance(position: number, { publisher, number, settled }: MessageOrigin): boolean {
    if (position <= this.#position) return false;
    this.#position = position;
    const before = this.#numbersOf(publisher);
    if (number <= before.settled || before.above.includes(number)) return false;
    const from = Math.max(settled, before.settled);
    const above = [...before.above, number].filter((applied) => applied > from);
    this.#applied.set(publisher, { settled: from, above });
    this.#changed.add(publisher);
    return true;
  }

  /** To be called in the transaction. */
  store(resumeAt: number, head: Seq): void {
    const position: StreamPosition = { position: this.#position, resumeAt, head };
    this.#store.run(NAME, JSON.stringify(position));
    for (const publisher of this.#changed)
      this.#store.run(rowOf(publisher), JSON.stringify(this.#applied.get(publisher)));
    this.#changed.clear();
  }

  #numbersOf(publisher: string): AppliedNumbers {
    const known = this.#applied.get(publisher);
    if (known !== undefined) return known;
    const stored = readMeta(this.#db, rowOf(publisher));
    return stored === undefined
      ? { settled: 0, above: [] }
      : (JSON.parse(String(stored)) as AppliedNumbers);
  }
}

function rowOf(publisher: string): string {
  return `publisher ${publisher}`;
}
