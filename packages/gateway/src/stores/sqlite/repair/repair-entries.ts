/**
 * Puts entries back that are not what was stored, from copies of them. A copy is taken only if it
 * follows from the link before, and either its link is the one in the log, or the next entry follows from
 * it. A gateway may run meanwhile.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { entryHead } from '@open-presence/protocol';

import type { SmallCopy } from '../../../log/log-copier.ts';
import type { Seq } from '../../../log/log.ts';
import { threadIn, withheldFacets } from '../../../log/thread.ts';
import { copyLarge } from '../backup/copy-files.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, readable, transact } from '../database.ts';
import { finalPath } from '../large/large-files.ts';
import { AnsweredEntries } from '../log/answered-entries.ts';
import { digestOf, FIRST_LINK, linkOf, sha256 } from '../log/chain.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import type { EntryRow, WithheldRow } from '../log/entry-row.ts';
import { openLogForReading, openLogForRepair } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { type NewRow, RowWriter } from '../log/row-writer.ts';
import { flushFolder } from '../prepare-folder.ts';
import {
  withheldInserter,
  type WithheldLookup,
  withheldLookup,
} from '../withholding/withheld-table.ts';
import { readLastCommit } from '../writer/last-commit.ts';
import { faultOf, isWhole, verifyEntries } from './verify.ts';

/** An entry as somebody else has it. */
interface RepairCopy {
  readonly small: SmallCopy | undefined;
  /** The visitor's members. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface RepairSources {
  /** Undefined if there is no such entry. Called once for each seq, in ascending order. */
  readonly source: (seq: Seq) => Promise<RepairCopy | undefined>;
  /** A copy of the data folder: the files of large entries come from it. */
  readonly folder: DataPaths | undefined;
}

export interface RepairEvent {
  /** Undefined where it is no single entry. */
  readonly seq: Seq | undefined;
  readonly fault: string;
  /** Why it could not be put back; undefined if it was. */
  readonly reason: string | undefined;
}

/** Yields each wrong entry after it was put back, or after that failed. */
export async function* repairEntries(
  paths: DataPaths,
  sources: RepairSources,
): AsyncGenerator<RepairEvent> {
  using db = openLogForReading(paths);
  const log = new RowReader(db);
  const faults = await faultsIn(paths, log);
  for (const group of consecutive([...faults.keys()].toSorted((a, b) => a - b))) {
    const reasons = await new Repair(paths, log, withheldLookup(db)).repair(group, sources);
    for (const seq of group) yield { seq, fault: faults.get(seq) ?? '', reason: reasons.get(seq) };
  }
}

async function faultsIn(paths: DataPaths, log: RowReader): Promise<Map<Seq, string>> {
  const faults = new Map<Seq, string>();
  const verifier = new ChainVerifier(paths);
  const task = { paths, verifier, head: log.lastSeq(), signal: undefined };
  for await (const event of verifyEntries(log, task)) {
    if (event.type === 'progress') continue;
    // One fault tells of all entries that are missing before a row.
    for (let seq = event.seq ?? verifier.next; seq < verifier.next; seq += 1) {
      const fault = await faultOf(seq, log, paths);
      if (fault !== undefined) faults.set(seq, fault);
    }
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

/** Repairs entries that follow one another. */
class Repair {
  readonly #paths: DataPaths;
  readonly #log: RowReader;
  #previous: Uint8Array = FIRST_LINK;
  readonly #rows = new Map<Seq, NewRow>();
  /** Withheld entries whose digest was unknown here, or that only the source withholds. */
  readonly #newlyWithheld = new Map<Seq, WithheldRow>();
  readonly #withheld: WithheldLookup;

  constructor(paths: DataPaths, log: RowReader, withheld: WithheldLookup) {
    this.#paths = paths;
    this.#log = log;
    this.#withheld = withheld;
  }

  /** Returns why some could not be put back. */
  async repair(group: readonly Seq[], sources: RepairSources): Promise<Map<Seq, string>> {
    const reasons = new Map<Seq, string>();
    const [first = 1] = group;
    if (first > 1) this.#previous = this.#row(first - 1)?.link ?? FIRST_LINK;
    let reason: string | undefined;
    for (const seq of group) {
      const row = this.#row(seq);
      const copy = await sources.source(seq);
      const isLarge = row?.large !== undefined;
      const own = isLarge
        ? await this.#takeLarge(row, copy, sources.folder)
        : (reason ??= this.#take(seq, row, copy));
      if (own !== undefined) reasons.set(seq, own);
      // Its row stays.
      if (isLarge) this.#previous = Buffer.from(row.link);
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

  /** All or none. Returns why it failed, if it did. The next start erases the withheld text. */
  #store(): string | undefined {
    using db = openLogForRepair(this.#paths);
    try {
      transact(db, () => {
        const writer = new RowWriter(db);
        const answered = new AnsweredEntries(db);
        for (const [seq, row] of this.#rows)
          writer.put(seq, { ...row, facets: answered.withThread(row.facets) });
        const insert = withheldInserter(db);
        const setDigest = db.prepare('UPDATE withheld SET digest = ? WHERE seq = ?');
        for (const [seq, row] of this.#newlyWithheld)
          if (setDigest.run(row.digest, seq).changes === 0) insert(seq, row, false);
      });
      return undefined;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      return `its page cannot be written (${error.message}): import the log anew`;
    }
  }

  /** Returns why the copy cannot be taken. */
  #take(seq: Seq, row: EntryRow | undefined, copy: RepairCopy | undefined): string | undefined {
    if (copy === undefined) return 'it is not there';
    const { small } = copy;
    const last = this.#withheld(seq);
    const stored = last?.state === 'shown' ? undefined : last;
    if (small === undefined && stored !== undefined) return 'it is withheld, and its row is lost';
    if (small === undefined) return 'it is large, and its row is lost: import the log anew';
    const withheld = withheldAs(stored, small);
    // A withheld text does not come back: only the gateway's members are taken from the copy.
    const made = rowOf(small, row?.key, withheld !== undefined);
    const link = linkOf(this.#previous, {
      head: Buffer.from(entryHead(small.metadata)),
      digest: withheld?.digest ?? digestOf(made.salt, sha256(small.body)),
      keyHash: small.key === undefined ? undefined : Buffer.from(small.key, 'hex'),
    });
    if (small.metadata.seq !== seq || Buffer.compare(link, made.link) !== 0)
      return 'it does not follow from the entry before there';
    this.#rows.set(seq, made);
    if (withheld !== undefined && withheld !== stored) this.#newlyWithheld.set(seq, withheld);
    this.#previous = link;
    return undefined;
  }

  /** Puts its files back. If the source withholds it, withholds it here: the next start erases the rest. */
  async #takeLarge(
    row: EntryRow,
    copy: RepairCopy | undefined,
    folder: DataPaths | undefined,
  ): Promise<string | undefined> {
    const { seq, large = '', text, head, salt, keyHash, link } = row;
    const isMadeOf = (digest: Uint8Array): boolean =>
      link.equals(linkOf(this.#previous, { head: text.subarray(0, head), digest, keyHash }));
    const withheld = copy?.small && withheldAs(undefined, copy.small);
    if (withheld !== undefined) {
      this.#newlyWithheld.set(seq, withheld);
      if (isMadeOf(withheld.digest)) return undefined;
      this.#newlyWithheld.delete(seq);
      return 'it is withheld there, and its link was made of something else';
    }
    let unlike: string | undefined;
    if (folder !== undefined) {
      const fault = await faultOf(seq, this.#log, folder);
      if (fault === undefined) {
        await copyLarge(large, { source: folder, target: this.#paths, all: true });
        return undefined;
      }
      // The folder of an import has other files, and its log has the entry.
      unlike = `in "${folder.folder}" it ${fault}`;
    }
    if (copy === undefined) return unlike ?? 'it is not there';
    if (!(await isWhole(row, this.#paths)))
      return 'its row or its list of facets has changed: import the log anew';
    const isBody = (hash: Uint8Array): boolean => isMadeOf(digestOf(salt, hash));
    const isReplaced = await replaceBody(this.#paths, large, copy.chunks(), isBody);
    return isReplaced ? undefined : (unlike ?? 'there it is not what its link was made of');
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

/** Puts a body in its place, flushed, if its SHA-256 is right. Returns whether it is. */
async function replaceBody(
  paths: DataPaths,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  isRight: (hash: Uint8Array) => boolean,
): Promise<boolean> {
  const [unfinished, target] = [join(paths.incoming, `${name}.repair`), finalPath(paths, name)];
  await mkdir(dirname(target), { recursive: true });
  await mkdir(paths.incoming, { recursive: true });
  try {
    await using handle = await open(unfinished, 'w');
    const hash = createHash('sha256');
    for await (const chunk of chunks) {
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    if (!isRight(hash.digest())) return false;
    await handle.writeFile('}');
    await handle.sync();
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
  for (const folder of [dirname(target), paths.large]) flushFolder(folder);
  return true;
}

/** How an entry is withheld: as here, with the digest that was unknown, or as the copy has it. */
function withheldAs(stored: WithheldRow | undefined, copy: SmallCopy): WithheldRow | undefined {
  const there = copy.withheld && {
    ...copy.withheld,
    state: 'withheld' as const,
    digest: Buffer.from(copy.withheld.digest, 'hex'),
  };
  if (stored === undefined || stored.digest.length > 0) return stored ?? there;
  const digest = there?.digest ?? digestOf(Buffer.from(copy.salt, 'hex'), sha256(copy.body));
  return { ...stored, digest };
}

/** `column`: the key column that is stored now, which the copy does not have. */
function rowOf(
  { metadata, facets, portability = 'exact', body, link, salt, key }: SmallCopy,
  column: Buffer | undefined,
  isWithheld: boolean,
): NewRow {
  const { kind, room, time } = metadata;
  const head = Buffer.from(entryHead(metadata));
  const hash = key === undefined ? undefined : Buffer.from(key, 'hex');
  const isSameKey = hash !== undefined && column !== undefined && hash.equals(sha256(column));
  const rest = body.length === 0 || isWithheld ? [] : [Buffer.from(','), body];
  return {
    time,
    kind,
    room,
    large: undefined,
    marked: false,
    link: Buffer.from(link, 'hex'),
    salt: isWithheld ? Buffer.alloc(salt.length / 2) : Buffer.from(salt, 'hex'),
    key: isSameKey ? Buffer.from(column) : hash,
    facets: isWithheld ? withheldFacets(kind, room, threadIn(facets)) : facets,
    portability: isWithheld ? 'exact' : portability,
    text: [head, ...rest, Buffer.from('}')],
    isWithheld,
  };
}
