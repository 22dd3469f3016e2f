/**
 * Counts entries by kind, room, day and visitor. Visitors are counted in a temporary database on the
 * disk, since there may be any number of them.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { type LogLine, withheldIn } from '@open-presence/client';
import { type JsonPath, JsonScanner, PathFinder } from '@open-presence/gateway/json';

export interface VisitorCount {
  /** Null for all entries without a name. */
  readonly identity: string | null;
  readonly entries: number;
}

const DATE_LENGTH = '2026-11-22'.length;

export class Tally implements Disposable {
  entries = 0;
  /** How many of them were withheld. Their visitors are unknown, and not counted. */
  withheld = 0;
  readonly kinds = new Map<string, number>();
  readonly rooms = new Map<string, number>();
  /** By date (UTC), in their order. */
  readonly days = new Map<string, number>();
  #unnamed = 0;
  // A database without a name: SQLite removes its file when it is closed.
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
    // White space alone is no name.
    if (name !== undefined && /\S/.test(name)) this.#count.run(name);
    else this.#unnamed += 1;
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

/** Bytes of a name in a long body. A longer name is not read. */
const LONGEST_NAME = 60_000;

/** Undefined for an entry without a name. */
async function visitorName(line: LogLine): Promise<string | undefined> {
  const member = line.kind === 'resonance' ? 'ai_identity' : 'identity';
  const { body } = line;
  if (body === undefined) return await nameInLongBody(line.chunks(), [member]);
  const entry: unknown = JSON.parse(`{${new TextDecoder().decode(body)}}`);
  return nameOf(Object.getOwnPropertyDescriptor(entry, member)?.value);
}

async function nameInLongBody(
  chunks: AsyncIterable<Uint8Array>,
  path: JsonPath,
): Promise<string | undefined> {
  let name: string | undefined;
  /** The bytes that were read last, and their offset in the text. */
  let held = Buffer.alloc(0);
  let offset = 0;
  const finder = new PathFinder([path], ({ type, start, end }) => {
    if (type !== 'string' || start < offset) return;
    name = nameOf(JSON.parse(held.toString('utf8', start - offset, end - offset)));
  });
  const scanner = new JsonScanner(finder);
  const feed = (bytes: Uint8Array): void => {
    const kept = held.subarray(-LONGEST_NAME);
    offset += held.length - kept.length;
    held = Buffer.concat([kept, bytes]);
    scanner.feed(bytes);
  };
  feed(Buffer.from('{'));
  for await (const bytes of chunks) feed(bytes);
  feed(Buffer.from('}'));
  return name;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
