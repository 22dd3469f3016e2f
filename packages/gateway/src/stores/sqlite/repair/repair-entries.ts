/**
 * Puts entries back that are not what was stored, from copies of them. A copy is taken only if it
 * follows from the link before, and its link is the one that the log has, or what comes behind follows
 * from it. A gateway may run meanwhile.
 */
import { createHash } from 'node:crypto';

import { entryHead } from '@open-presence/protocol';

import { facet } from '../../../log/facet.ts';
import type { SmallCopy } from '../../../log/log-copier.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, readable } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { digestOf, FIRST_LINK, linkOf } from '../log/chain.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { finalPath } from '../large/large-files.ts';
import { readLastCommit } from '../writer/last-commit.ts';
import { openLogForReading, openLogForRepair } from '../log/log-database.ts';
import { replaceFile } from './replace-file.ts';
import { sha256 } from '../log/sha256.ts';
import type { WithheldLookup, WithheldRow } from '../withholding/withheld-entry.ts';
import { OTHER_FACETS } from './verify.ts';
import { type NewRow, RowWriter } from '../log/row-writer.ts';
import { withheldInserter, withheldLookup } from '../withholding/withheld-table.ts';

/** An entry as somebody else has it. */
interface RepairCopy {
  /** Undefined for one that is large. */
  readonly small: SmallCopy | undefined;
  /** The visitor's members. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Undefined where there is no such entry. Called for ascending seqs, once for each. */
export type RepairSource = (seq: Seq) => Promise<RepairCopy | undefined>;

export interface RepairEvent {
  /** Undefined where it is no single entry. */
  readonly seq: Seq | undefined;
  /** What was wrong. */
  readonly fault: string;
  /** Why it could not be put back; undefined if it was. */
  readonly reason: string | undefined;
}

/**
 * Yields each entry that was not what was stored, once it was put back or could not be, but for those
 * that were seen to before.
 */
export async function* repairEntries(
  paths: DataPaths,
  source: RepairSource,
  seen: ReadonlySet<Seq>,
): AsyncGenerator<RepairEvent> {
  const db = openLogForReading(paths);
  try {
    const log = new RowReader(db);
    const faults = await faultsIn(paths, log, seen);
    for (const group of consecutive([...faults.keys()].toSorted((a, b) => a - b))) {
      const reasons = await new Repair(paths, log, withheldLookup(db)).repair(group, source);
      for (const seq of group)
        yield { seq, fault: faults.get(seq) ?? '', reason: reasons.get(seq) };
    }
  } finally {
    db.close();
  }
}

async function faultsIn(
  paths: DataPaths,
  log: RowReader,
  seen: ReadonlySet<Seq>,
): Promise<Map<Seq, string>> {
  const faults = new Map<Seq, string>();
  const verifier = new ChainVerifier(paths);
  let next: Seq = 1;
  for (const row of log.rowsAndSpoiled({ from: 1, to: log.lastSeq() })) {
    for (; next < row.seq; next += 1) faults.set(next, 'is missing');
    next = row.seq + 1;
    if ('error' in row) {
      verifier.skip(row.seq);
      faults.set(row.seq, `cannot be read (${row.error.message})`);
      continue;
    }
    for (const { seq, description } of await verifier.verify(row, undefined))
      if (seq === row.seq && !seen.has(seq)) faults.set(seq, description);
    if (!row.isWhole && !faults.has(row.seq)) faults.set(row.seq, OTHER_FACETS);
  }
  return faults;
}

function consecutive(seqs: readonly Seq[]): Seq[][] {
  const groups: Seq[][] = [];
  for (const seq of seqs) {
    const group = groups.at(-1);
    if (group?.at(-1) === seq - 1) group.push(seq);
    else groups.push([seq]);
  }
  return groups;
}

/** Of entries that follow one another. */
class Repair {
  readonly #paths: DataPaths;
  readonly #log: RowReader;
  #previous: Uint8Array = FIRST_LINK;
  readonly #rows = new Map<Seq, NewRow>();
  /** Those whose digest was unknown, or that are withheld by the source only. */
  readonly #newlyWithheld = new Map<Seq, WithheldRow>();
  readonly #withheld: WithheldLookup;

  constructor(paths: DataPaths, log: RowReader, withheld: WithheldLookup) {
    this.#paths = paths;
    this.#log = log;
    this.#withheld = withheld;
  }

  /** Returns why some could not be put back. */
  async repair(group: readonly Seq[], source: RepairSource): Promise<Map<Seq, string>> {
    const reasons = new Map<Seq, string>();
    const [first = 1] = group;
    if (first > 1) this.#previous = this.#row(first - 1)?.link ?? FIRST_LINK;
    let reason: string | undefined;
    for (const seq of group) {
      reason ??= await this.#take(seq, await source(seq));
      if (reason !== undefined) reasons.set(seq, reason);
    }
    const last = [...this.#rows.keys()].at(-1);
    const refusal =
      last === undefined || (await this.#joins(last))
        ? this.#store()
        : 'the log does not go on from it there';
    if (refusal !== undefined)
      for (const seq of [...this.#rows.keys(), ...this.#newlyWithheld.keys()])
        reasons.set(seq, refusal);
    return reasons;
  }

  /** All or none. Returns why it cannot be done, if so. The next start erases what is withheld. */
  #store(): string | undefined {
    const db = openLogForRepair(this.#paths);
    try {
      db.exec('BEGIN IMMEDIATE');
      const writer = new RowWriter(db);
      for (const [seq, row] of this.#rows) writer.put(seq, row);
      const insert = withheldInserter(db);
      const setDigest = db.prepare('UPDATE withheld SET digest = ? WHERE seq = ?');
      for (const [seq, row] of this.#newlyWithheld)
        if (setDigest.run(row.digest, seq).changes === 0) insert(seq, row, false);
      db.exec('COMMIT');
      return undefined;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      return `its page cannot be written (${error.message}): import the log anew`;
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
      db.close();
    }
  }

  /** Returns why the copy cannot be taken. */
  async #take(seq: Seq, copy: RepairCopy | undefined): Promise<string | undefined> {
    if (copy === undefined) return 'it is not there';
    const row = this.#row(seq);
    const { small } = copy;
    const stored = this.#withheld(seq);
    const withheld = stored?.digest.length === 0 ? withCopiedDigest(stored, small) : stored;
    const newlyWithheld = withheld ?? withheldRow(small);
    if (row?.large !== undefined)
      return newlyWithheld !== undefined && withheld === undefined
        ? this.#withholdLarge(row, newlyWithheld)
        : await this.#replaceFile(row, copy);
    if (small === undefined && stored !== undefined) return 'it is withheld, and its row is lost';
    if (small === undefined) return 'it is large, and its row is lost: import the log anew';
    // What was withheld does not come back: only the gateway's members are taken from the copy.
    const made = rowOf(small, row?.key, newlyWithheld !== undefined);
    const parts = {
      head: Buffer.from(entryHead(small.stamp)),
      digest: newlyWithheld?.digest ?? digestOf(made.salt, sha256(small.body)),
      keyHash: small.key === undefined ? undefined : Buffer.from(small.key, 'hex'),
    };
    const link = linkOf(this.#previous, parts);
    if (small.stamp.seq !== seq || Buffer.compare(link, made.link) !== 0)
      return 'it does not follow from the entry before there';
    this.#rows.set(seq, made);
    if (newlyWithheld !== undefined && newlyWithheld !== stored)
      this.#newlyWithheld.set(seq, newlyWithheld);
    this.#previous = link;
    return undefined;
  }

  /** Its file is lost, and the source withholds it. The next start erases what is left of it. */
  #withholdLarge(
    { seq, text, head, keyHash, link }: EntryRow,
    withheld: WithheldRow,
  ): string | undefined {
    const parts = { head: text.subarray(0, head), digest: withheld.digest, keyHash };
    if (Buffer.compare(linkOf(this.#previous, parts), link) !== 0)
      return 'it is withheld there, and its link was made of something else';
    this.#newlyWithheld.set(seq, withheld);
    this.#previous = Buffer.from(link);
    return undefined;
  }

  /** The row is as it was, as the link shows. */
  async #replaceFile(row: EntryRow, copy: RepairCopy): Promise<string | undefined> {
    const { large = '', text, head, salt, keyHash, link } = row;
    if (!row.isWhole) return 'its row has changed: import the log anew';
    const hash = createHash('sha256');
    async function* file(): AsyncGenerator<Uint8Array> {
      for await (const chunk of copy.chunks()) {
        hash.update(chunk);
        yield chunk;
      }
      yield Buffer.from('}');
    }
    const isSame = (): boolean => {
      const digest = digestOf(salt, hash.digest());
      const parts = { head: text.subarray(0, head), digest, keyHash };
      return Buffer.compare(linkOf(this.#previous, parts), link) === 0;
    };
    if (!(await replaceFile(finalPath(this.#paths, large), file(), isSame)))
      return 'there it is not what its link was made of';
    this.#previous = Buffer.from(link);
    return undefined;
  }

  /** Whether the log has this link, or goes on from it. */
  async #joins(seq: Seq): Promise<boolean> {
    const link = this.#rows.get(seq)?.link ?? FIRST_LINK;
    if (this.#row(seq)?.link.equals(link) === true) return true;
    const next = this.#row(seq + 1);
    if (next === undefined) {
      const commit = readLastCommit(this.#paths);
      return commit?.seq === seq && commit.link === Buffer.from(link).toString('hex');
    }
    const verifier = new ChainVerifier(this.#paths, { seq, link });
    return (await verifier.verify(next, undefined)).length === 0;
  }

  /** Undefined also where it cannot be read. */
  #row(seq: Seq): EntryRow | undefined {
    return readable(() => this.#log.entry(seq));
  }
}

/** How the source has withheld it, if it has. */
function withheldRow(copy: SmallCopy | undefined): WithheldRow | undefined {
  const withheld = copy?.withheld;
  return withheld && { ...withheld, digest: Buffer.from(withheld.digest, 'hex') };
}

/** For an entry that could not be read when it was withheld. */
function withCopiedDigest(row: WithheldRow, copy: SmallCopy | undefined): WithheldRow {
  if (copy === undefined) return row;
  const digest =
    withheldRow(copy)?.digest ?? digestOf(Buffer.from(copy.salt, 'hex'), sha256(copy.body));
  return { ...row, digest };
}

/** `column`: the key column that is stored now, which the copy does not have. */
function rowOf(
  { stamp, facets, portability = 'exact', body, link, salt, key }: SmallCopy,
  column: Buffer | undefined,
  isWithheld: boolean,
): NewRow {
  const head = Buffer.from(entryHead(stamp));
  const hash = key === undefined ? undefined : Buffer.from(key, 'hex');
  const isSameKey = hash !== undefined && column !== undefined && hash.equals(sha256(column));
  const rest = body.length === 0 || isWithheld ? [] : [Buffer.from(','), body];
  const ownFacets = [facet('kind', stamp.kind), facet('room', stamp.room)];
  return {
    time: stamp.time,
    kind: stamp.kind,
    room: stamp.room,
    large: undefined,
    marked: false,
    link: Buffer.from(link, 'hex'),
    salt: isWithheld ? Buffer.alloc(salt.length / 2) : Buffer.from(salt, 'hex'),
    key: isSameKey ? Buffer.from(column) : hash,
    facets: isWithheld ? Buffer.concat(ownFacets) : facets,
    portability: isWithheld ? 'exact' : portability,
    text: [head, ...rest, Buffer.from('}')],
    isWithheld,
  };
}
