/** What a copy has applied of its stream, committed with it: a message is applied once, however often it comes. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import {
  isVoid,
  type MessageOrigin,
  type StreamPosition,
  VALID_MS,
} from '../../log/ordered-batch.ts';
import { readMeta } from '../database.ts';
import { numberAllWithheld } from '../withholding/withheld-table.ts';
import { removeStreamMessages } from './stream-messages.ts';

interface PublisherState {
  /** When the stream took its last message, in ms since 1970. */
  readonly last: number;
  readonly settled: number;
  /** Its messages above `settled` that were applied. */
  readonly above: readonly number[];
}

const NAME = 'stream';
/** Begins the names of the rows of publishers. */
const PUBLISHER = 'publisher ';

/**
 * A publisher that was silent for longer is forgotten. If its earlier messages come again, they are void,
 * even if a clock was as wrong as it may be. A void message makes nobody forgotten: its own clock may be
 * wrong.
 */
const FORGOTTEN_MS = 3 * VALID_MS;

/** Undefined for a log that no stream has filled. */
export function readStreamPosition(db: DatabaseSync): StreamPosition | undefined {
  const stored = readMeta(db, NAME);
  return stored === undefined ? undefined : (JSON.parse(String(stored)) as StreamPosition);
}

const UNKNOWN: PublisherState = { last: 0, settled: 0, above: [] };

/** Makes a log whose newest entry is `head` a copy that has not applied anything of the stream. */
export function joinStream(db: DatabaseSync, stream: string, head: Seq): void {
  const position: StreamPosition = { stream, position: 0, resumeAt: 1, head };
  db.prepare('INSERT INTO meta VALUES (?, ?)').run(NAME, JSON.stringify(position));
}

/** Makes a copy a log of its own. */
export function leaveStream(db: DatabaseSync): void {
  db.exec(`DELETE FROM meta WHERE name = '${NAME}' OR name GLOB '${PUBLISHER}*'`);
  removeStreamMessages(db);
  numberAllWithheld(db);
}

export class StreamProgress {
  readonly #store: StatementSync;
  readonly #remove: StatementSync;
  readonly #publishers = new Map<string, PublisherState>();
  readonly #changed = new Set<string>();
  #position: number;

  constructor(db: DatabaseSync) {
    this.#store = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
    this.#remove = db.prepare('DELETE FROM meta WHERE name = ?');
    this.#position = readStreamPosition(db)?.position ?? 0;
    const rows = db.prepare(`SELECT name, value FROM meta WHERE name GLOB '${PUBLISHER}*'`).all();
    for (const { name, value } of rows)
      this.#publishers.set(
        String(name).slice(PUBLISHER.length),
        JSON.parse(String(value)) as PublisherState,
      );
  }

  /** 'skip': read before. 'unused': applied at an earlier position, or void. `time`: by the stream's clock. */
  advance(position: number, time: number, origin: MessageOrigin): 'apply' | 'skip' | 'unused' {
    if (position <= this.#position) return 'skip';
    this.#position = position;
    if (isVoid(time, origin)) return 'unused';
    this.#forget(time);
    const { publisher, number } = origin;
    const before = this.#publishers.get(publisher) ?? UNKNOWN;
    const settled = Math.max(origin.settled, before.settled);
    const isNew = number > before.settled && !before.above.includes(number);
    const applied = isNew ? [...before.above, number] : before.above;
    const above = applied.filter((other) => other > settled);
    this.#publishers.set(publisher, { last: time, settled, above });
    this.#changed.add(publisher);
    return isNew ? 'apply' : 'unused';
  }

  /** To be called in the transaction. */
  store({ stream, resumeAt, head }: Omit<StreamPosition, 'position'>): void {
    const position: StreamPosition = { stream, position: this.#position, resumeAt, head };
    this.#store.run(NAME, JSON.stringify(position));
    for (const publisher of this.#changed) {
      const state = this.#publishers.get(publisher);
      if (state === undefined) this.#remove.run(PUBLISHER + publisher);
      else this.#store.run(PUBLISHER + publisher, JSON.stringify(state));
    }
    this.#changed.clear();
  }

  #forget(time: number): void {
    for (const [publisher, { last }] of this.#publishers) {
      if (time - last <= FORGOTTEN_MS) continue;
      this.#publishers.delete(publisher);
      this.#changed.add(publisher);
    }
  }
}
