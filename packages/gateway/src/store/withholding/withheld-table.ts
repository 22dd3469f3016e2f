/** What was withheld, hidden or shown cannot be derived. A row stays; the text of its entry goes after it is committed. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq, WithholdingState } from '../../log/log.ts';
import type { WithheldRow } from '../log/entry-row.ts';

// `withheld` has the last case of each entry, `withheld_before` those before it. The digest is what the link
// was made of (see `chain.ts`); empty if the entry could not be read, and while a small one is only hidden: its row
// tells. isErased: twice the place of the state in STATES, and one more, unless text is left to be erased.
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
  CREATE INDEX IF NOT EXISTS unerased ON withheld (number) WHERE isErased = 0`;

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

/** The last case of each of these entries that has one. */
export function statesOf(
  log: DatabaseSync,
  seqs: readonly Seq[],
): ReadonlyMap<Seq, WithholdingState> {
  const find = log.prepare(
    'SELECT seq, isErased FROM json_each(?) CROSS JOIN withheld ON seq = value',
  );
  const rows = find.all(JSON.stringify(seqs));
  return new Map(rows.map(({ seq, isErased }) => [Number(seq), stateIn(isErased)]));
}

/** Up to this one, the newest first. */
export function hiddenSeqs(log: DatabaseSync, last: Seq): Seq[] {
  const find = log.prepare(
    'SELECT seq FROM withheld WHERE isErased IN (2, 3) AND seq <= ? ORDER BY seq DESC',
  );
  return find.all(last).map(({ seq }) => Number(seq));
}

// The next number. An entry that is withheld before its case arrives has a negative number until then.
const NEXT = 'max(coalesce(max(number), 0), 0) + 1';

/** Adds a row for an entry without text, within the caller's transaction. Numbers have no gaps. */
export function withheldInserter(log: DatabaseSync): (seq: Seq, row: WithheldRow) => void {
  const insert = log.prepare(`INSERT INTO withheld SELECT ${NEXT}, ?, ?, ?, ?, ? FROM withheld`);
  return (seq, { time, reason, digest, state }) =>
    void insert.run(seq, time, reason, digest, codeOf(state, true));
}

/** Entries that get the same state, for the same reason. */
export interface Cases {
  /** In ms since 1970. */
  readonly time: number;
  readonly reason: string;
  readonly state: WithholdingState;
  /** Each once. */
  readonly seqs: readonly Seq[];
  /** In the order of the seqs, in hex: what the links of the entries were made of. Empty: see `withheld`. */
  readonly digests: readonly string[];
}

/** What an entry's last case must be before it gets a state. An early one has no number: only that it is erased is known. */
const BEFORE: Readonly<Record<WithholdingState, string>> = {
  withheld: 'coalesce(w.isErased, 5) > 1 OR w.number < 0',
  hidden: 'coalesce(w.isErased, 5) > 3 OR w.number < 0',
  shown: 'w.isErased IN (2, 3)',
};

/** Lists the cases of the entries that can get the state, in one transaction of the caller. Returns how many these are. */
export function listCases(
  log: DatabaseSync,
  { time, reason, state, seqs, digests }: Cases,
): number {
  const given = seqs.map((seq, at) => `"${seq}":"${digests[at] ?? ''}"`);
  const json = `{${given.join()}}`;
  const chosen = `FROM json_each(?1) AS given LEFT JOIN withheld AS w ON w.seq = CAST(given.key AS INTEGER)
    WHERE CAST(given.key AS INTEGER) BETWEEN 1 AND (SELECT max(seq) FROM entries) AND (${BEFORE[state]})`;
  log
    .prepare(`INSERT INTO withheld_before SELECT w.number, w.seq, w.time, w.reason, w.isErased
      ${chosen} AND w.number > 0`)
    .run(json);
  const list = log.prepare(`INSERT INTO withheld
    SELECT ?2 + row_number() OVER (ORDER BY given.id), CAST(given.key AS INTEGER), ?3, ?4, unhex(given.value), ?5
    ${chosen} ON CONFLICT (seq) DO UPDATE SET number = excluded.number, time = excluded.time,
    reason = excluded.reason, isErased = excluded.isErased | (number < 0),
    digest = iif(octet_length(digest) = 0, excluded.digest, digest)`);
  const code = codeOf(state, state !== 'withheld');
  return Number(list.run(json, lastWithheld(log), time, reason, code).changes);
}

/** For an entry that arrives erased before its case does. `listCases` gives it a number then. */
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

/** Lists also those withheld entries whose case has not arrived, in a log that will receive none. */
export function numberAllWithheld(log: DatabaseSync): void {
  const number = log.prepare(
    `UPDATE withheld SET number = (SELECT ${NEXT} FROM withheld) WHERE seq = ?`,
  );
  const early = log.prepare('SELECT seq FROM withheld WHERE number < 0 ORDER BY seq').all();
  for (const { seq } of early) number.run(Number(seq));
}

/** The number of the newest withholding, 0 if there is none. */
export function lastWithheld(log: DatabaseSync): number {
  const row = log.prepare('SELECT max(coalesce(max(number), 0), 0) AS number FROM withheld').get();
  return Number(row?.['number']);
}

/** Withheld entries whose text may be left somewhere, in the order of the table, after this number. */
export function unerased(
  log: DatabaseSync,
  after = 0,
  limit = -1,
): { readonly number: number; readonly seq: Seq }[] {
  const rows = log
    .prepare(
      'SELECT number, seq FROM withheld WHERE isErased = 0 AND number > ? ORDER BY number LIMIT ?',
    )
    .all(after, limit);
  return rows.map(({ number, seq }) => ({ number: Number(number), seq: Number(seq) }));
}

/** Within the caller's transaction. */
export function setErased(log: DatabaseSync, last: number): void {
  log.prepare('UPDATE withheld SET isErased = 1 WHERE isErased = 0 AND number <= ?').run(last);
}
