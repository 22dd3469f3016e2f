/** What was withheld, hidden or shown cannot be derived. A row is written before its entry is marked, or with it, and stays. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq, WithholdingState } from '../../../log/log.ts';
import type { WithheldRow } from '../log/entry-row.ts';

// `withheld` has the last case of each entry, `withheld_before` those before it. The digest is what the link
// was made of (see `chain.ts`); empty if the entry could not be read. isErased: twice the place of the state in
// STATES; one more once everything follows it. For `withheld`, no file then has anything left of what the
// visitor said.
export const WITHHELD_TABLE = `
  CREATE TABLE IF NOT EXISTS withheld (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    reason TEXT NOT NULL,
    digest BLOB NOT NULL,
    isErased INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS withheld_before (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    reason TEXT NOT NULL,
    isErased INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS unfinished ON withheld (number) WHERE isErased IN (0, 2, 4)`;

const STATES: readonly WithholdingState[] = ['withheld', 'hidden', 'shown'];

export function stateIn(isErased: unknown): WithholdingState {
  return STATES[Number(isErased) >> 1] ?? 'withheld';
}

function codeOf(state: WithholdingState, isFinished: boolean): number {
  return 2 * STATES.indexOf(state) + Number(isFinished);
}

export type WithheldLookup = (seq: Seq) => WithheldRow | undefined;

/** The last case of an entry. */
export function withheldLookup(log: DatabaseSync): WithheldLookup {
  const find = log.prepare('SELECT time, reason, digest, isErased FROM withheld WHERE seq = ?');
  return (seq) => {
    const row = find.get(seq);
    if (row === undefined) return undefined;
    const { time, reason, digest, isErased } = row;
    return {
      time: Number(time),
      reason: String(reason),
      digest: digest as Uint8Array,
      state: stateIn(isErased),
    };
  };
}

// The next number. An entry that is withheld before its case arrives has a negative number until then.
const NEXT = 'max(coalesce(max(number), 0), 0) + 1';

/** Adds a row, within the caller's transaction. Numbers have no gaps. */
export function withheldInserter(
  log: DatabaseSync,
): (seq: Seq, row: WithheldRow, isFinished: boolean) => void {
  const insert = log.prepare(`INSERT INTO withheld SELECT ${NEXT}, ?, ?, ?, ?, ? FROM withheld`);
  return (seq, { time, reason, digest, state }, isFinished) =>
    void insert.run(seq, time, reason, digest, codeOf(state, isFinished));
}

/** Lists a case, within the caller's transaction, unless the entry has its state, or cannot get it. */
export function caseLister(log: DatabaseSync): (item: WithheldItem) => void {
  const find = log.prepare('SELECT number, isErased FROM withheld WHERE seq = ?');
  const keep = log.prepare(
    'INSERT INTO withheld_before SELECT number, seq, time, reason, isErased FROM withheld WHERE seq = ?',
  );
  const change = log.prepare(`UPDATE withheld SET number = (SELECT ${NEXT} FROM withheld),
    time = ?, reason = ?, isErased = ? WHERE seq = ?`);
  const insert = withheldInserter(log);
  return ({ seq, ...row }) => {
    const { state, time, reason } = row;
    const last = find.get(seq);
    // An entry that came withheld before its case is erased: the cases before that one change nothing.
    const isEarly = last !== undefined && Number(last['number']) < 0;
    const before = last === undefined || isEarly ? 'shown' : stateIn(last['isErased']);
    if (!CHANGES[state].includes(before)) return;
    if (last === undefined) {
      insert(seq, row, false);
      return;
    }
    if (!isEarly) keep.run(seq);
    change.run(time, reason, codeOf(state, isEarly), seq);
  };
}

/** The states from which an entry can get one. */
const CHANGES: Readonly<Record<WithholdingState, readonly WithholdingState[]>> = {
  withheld: ['shown', 'hidden'],
  hidden: ['shown'],
  shown: ['hidden'],
};

/** For an entry that arrives erased before its case does. `numberWithheld` lists it then. */
export function insertWithheldEarly(
  log: DatabaseSync,
  seq: Seq,
  row: Omit<WithheldRow, 'state'>,
): void {
  const { time, reason, digest } = row;
  const insert = log.prepare('INSERT INTO withheld VALUES (?, ?, ?, ?, ?, 1)');
  insert.run(-seq, seq, time, reason, digest);
}

/** For a withheld entry whose text is back, within the caller's transaction. */
export function setHidden(log: DatabaseSync, seq: Seq): void {
  const set = log.prepare('UPDATE withheld SET isErased = ? WHERE seq = ?');
  set.run(codeOf('hidden', true), seq);
}

/** Within the caller's transaction. Does nothing for an entry that has its number. */
function numberWithheld(log: DatabaseSync, seq: Seq): void {
  log
    .prepare(
      `UPDATE withheld SET number = (SELECT ${NEXT} FROM withheld) WHERE seq = ? AND number < 0`,
    )
    .run(seq);
}

/** Lists also those withheld entries whose case has not arrived, in a log that will receive none. */
export function numberAllWithheld(log: DatabaseSync): void {
  const early = log.prepare('SELECT seq FROM withheld WHERE number < 0 ORDER BY seq').all();
  for (const { seq } of early) numberWithheld(log, Number(seq));
}

/** The number of the newest withholding, 0 if there is none. */
export function lastWithheld(log: DatabaseSync): number {
  const row = log.prepare('SELECT max(coalesce(max(number), 0), 0) AS number FROM withheld').get();
  return Number(row?.['number']);
}

/** Unfinished cases, in the order of the table; with a limit, the first of them. */
export function unfinished(log: DatabaseSync, limit = -1): Pick<WithheldItem, 'seq' | 'state'>[] {
  const rows = log
    .prepare(
      'SELECT seq, isErased FROM withheld WHERE isErased IN (0, 2, 4) ORDER BY number LIMIT ?',
    )
    .all(limit);
  return rows.map(({ seq, isErased }) => ({ seq: Number(seq), state: stateIn(isErased) }));
}

export interface WithheldItem {
  readonly seq: Seq;
  /** In ms since 1970. */
  readonly time: number;
  readonly reason: string;
  readonly state: WithholdingState;
  /** The digest that its link was made of. Empty if it is unknown, because the entry cannot be read. */
  readonly digest: Uint8Array;
}

/** Entries that are listed in one transaction. */
export const PART_SIZE = 1000;
const NAME = 'withholding-';
/** Digits, so that the parts are in the order of their names. */
const DIGITS = 9;

type StoredItem = Omit<WithheldItem, 'digest' | 'state'> & {
  readonly state?: WithholdingState;
  readonly digest: string;
};

/** Within the caller's transaction, while there are none. */
export function storeDecided(log: DatabaseSync, items: readonly WithheldItem[]): void {
  const insert = log.prepare('INSERT INTO meta VALUES (?, ?)');
  for (let part = 0; part * PART_SIZE < items.length; part += 1) {
    const some = items.slice(part * PART_SIZE, (part + 1) * PART_SIZE);
    const stored = some.map((item): StoredItem => {
      return { ...item, digest: Buffer.from(item.digest).toString('hex') };
    });
    insert.run(NAME + String(part).padStart(DIGITS, '0'), JSON.stringify(stored));
  }
}

/** Whether a part is left. Does not write. */
export function hasDecided(log: DatabaseSync): boolean {
  return log.prepare(`SELECT 1 FROM meta WHERE name GLOB '${NAME}*' LIMIT 1`).get() !== undefined;
}

/** Removes the next part, within the caller's transaction, and returns it. */
export function takeDecided(log: DatabaseSync): readonly WithheldItem[] {
  const first = `SELECT name FROM meta WHERE name GLOB '${NAME}*' ORDER BY name LIMIT 1`;
  const row = log.prepare(`DELETE FROM meta WHERE name = (${first}) RETURNING value`).get();
  const stored = JSON.parse(String(row?.['value'] ?? '[]')) as readonly StoredItem[];
  // Parts of an earlier version have no state.
  return stored.map((item) => ({
    ...item,
    state: item.state ?? 'withheld',
    digest: Buffer.from(item.digest, 'hex'),
  }));
}
