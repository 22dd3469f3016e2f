/**
 * Counts entries by kind, room, day and visitor. Visitors are counted in a temporary database on the
 * disk, since there may be any number of them.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { type LogLine, withheldIn } from '@open-presence/client';

import { visitorName } from './visitor-name.ts';

export interface VisitorCount {
  /** Null for all entries without a name. */
  readonly identity: string | null;
  readonly entries: number;
}

const DATE_LENGTH = '2026-11-22'.length;

export class Tally implements Disposable {
  entries = 0;
  /** How many of them were withheld: their visitors are not known. */
  withheld = 0;
  readonly kinds = new Map<string, number>();
  readonly rooms = new Map<string, number>();
  /** By date (UTC), in their order. */
  readonly days = new Map<string, number>();
  #unnamed = 0;
  // Without a name: a file that SQLite removes when it is closed.
  readonly #db = new DatabaseSync('');
  readonly #count: StatementSync;

  constructor() {
    this.#db.exec(`PRAGMA journal_mode = OFF;
      CREATE TABLE visitors (name TEXT PRIMARY KEY, entries INTEGER) WITHOUT ROWID;
      BEGIN`);
    this.#count = this.#db.prepare(
      'INSERT INTO visitors VALUES (?, 1) ON CONFLICT DO UPDATE SET entries = entries + 1',
    );
  }

  async add(line: LogLine): Promise<void> {
    this.entries += 1;
    increment(this.kinds, line.kind);
    increment(this.rooms, line.room);
    increment(this.days, line.timestamp.slice(0, DATE_LENGTH));
    if (withheldIn(line) !== undefined) {
      this.withheld += 1;
      return;
    }
    const name = await visitorName(line);
    if (name === undefined) this.#unnamed += 1;
    else this.#count.run(name);
  }

  /** How many names there are. */
  get visitorCount(): number {
    return Number(this.#db.prepare('SELECT count(*) AS count FROM visitors').get()?.['count']);
  }

  /** The names with most entries first, up to this many; entries without a name come before all. */
  *visitors(limit: number): Generator<VisitorCount> {
    if (this.#unnamed > 0) yield { identity: null, entries: this.#unnamed };
    const rows = this.#db.prepare('SELECT * FROM visitors ORDER BY entries DESC, name LIMIT ?');
    for (const { name, entries } of rows.iterate(limit))
      yield { identity: String(name), entries: Number(entries) };
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
