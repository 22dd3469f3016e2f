/**
 * The end of the log while it is written. Gives each draft its seq, id, salts and link, and adds its
 * row; or takes over an entry of another gateway whose link follows. Works within the
 * transactions of `Writer`, which says when they have failed.
 *
 * Invariant: Seqs are 1, 2, 3 and so on. Each is assigned once, and restarts leave no gap.
 * Test: `test/log-contract/appending.ts` “gives 5,000 concurrent drafts the seqs from 1 to 5,000,
 *   each once”
 * Test: `test/log-contract/reopening.ts` “goes on with the next seq and a time not less, even if
 *   the clock was set back”
 *
 * Invariant: One idempotency key makes one entry, at any time, from any number of concurrent
 *   callers.
 * Test: `test/log-contract/idempotency-keys.ts` “used 50 times at once makes one entry” “with the
 *   same content again is the same entry, at any later time”
 */
import type { DatabaseSync } from 'node:sqlite';

import { entryHead, entryId, SALTS } from '@open-presence/protocol';

import type { CopyFault } from '../../log/log-copier.ts';
import type { Seq } from '../../log/log.ts';
import { threadIn, withheldFacets } from '../../log/thread.ts';
import { isSpoiled, readable } from '../database.ts';
import type { PackedDraft, WriteResult } from '../../log/packed-drafts.ts';
import { RowReader } from '../log/row-reader.ts';
import {
  bodySalt,
  digestOf,
  FIRST_LINK,
  idSalt,
  keyColumn,
  keyIn,
  keySalt,
  Linker,
  linkOf,
  sha256Binary,
} from '../log/chain.ts';
import type { PackedCopy } from '../replica/copy-batch.ts';
import type { WithheldForm } from '../../log/ordered-batch.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { type NewRow, RowWriter } from '../log/row-writer.ts';
import { insertWithheldEarly, setHidden, withheldInserter } from '../withholding/withheld-table.ts';

const COMMA = Buffer.from(',');
const BRACE = Buffer.from('}');
const NO_SALT = Buffer.alloc(16);
const UNAVAILABLE: WriteResult = { outcome: 'unavailable', seq: 0, time: 0, salt: 0 };

export class EntryAppender {
  readonly #db: DatabaseSync;
  readonly #rows: RowWriter;
  readonly #reader: RowReader;
  readonly #insertWithheld: ReturnType<typeof withheldInserter>;
  readonly #linker = new Linker();
  readonly #previousLink = Buffer.alloc(FIRST_LINK.length);
  #seq = 0;
  #time = 0;
  #hasWithheld = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#rows = new RowWriter(db);
    this.#reader = new RowReader(db);
    this.#insertWithheld = withheldInserter(db);
  }

  get seq(): Seq {
    return this.#seq;
  }

  /** Its time, in ms since 1970. */
  get time(): number {
    return this.#time;
  }

  get link(): Buffer {
    return this.#linker.link;
  }

  /** Whether copies of withheld entries were added since the last call. */
  takeWithheld(): boolean {
    const hasWithheld = this.#hasWithheld;
    this.#hasWithheld = false;
    return hasWithheld;
  }

  append(draft: PackedDraft, time: number, salts: Uint8Array): WriteResult {
    const digest = bodyDigestOf(draft);
    const existing = this.#find(draft, digest);
    if (existing !== undefined) return existing;
    const seq = this.#seq + 1;
    const id = idSalt(salts);
    const { kind, room } = draft;
    const head = entryHead({ id: entryId(time, seq, id), seq, kind, room, time });
    const salt = bodySalt(salts);
    const key = draft.key && keyColumn(keySalt(salts), draft.key);
    this.#linker.add(head, this.#linker.digestOf(salt, digest), key && sha256Binary(key));
    this.#store(draft, { time, salt, key });
    return { outcome: 'appended', seq, time, salt: id };
  }

  /** Appends an entry whose text is already erased. */
  appendWithheld(draft: PackedDraft, time: number, form: WithheldForm): WriteResult {
    const { kind, room } = draft;
    const { digest, key, idSalt: salt } = form;
    const seq = this.#seq + 1;
    const head = entryHead({ id: entryId(time, seq, salt), seq, kind, room, time });
    this.#linker.add(head, Buffer.from(digest).toString('latin1'), key && sha256Binary(key));
    const facets = withheldFacets(kind, room, threadIn(draft.facets));
    const left = { kind, room, facets, body: Buffer.alloc(0), large: undefined };
    this.#store(left, { time, salt: NO_SALT, key, isWithheld: true });
    insertWithheldEarly(this.#db, seq, form);
    return { outcome: 'appended', seq, time, salt };
  }

  /** Returns why it does not follow, if so. */
  appendCopy(copy: PackedCopy): CopyFault | undefined {
    const { seq, time, head, salt, link, keyHash, withheld } = copy;
    if (seq <= this.#seq) {
      if (copy.isPutBack) this.#putBack(copy);
      return this.#hasLink(seq, link) ? undefined : 'differs';
    }
    if (seq > this.#seq + 1) return 'gap';
    if (time < this.#time) return 'changed';
    const linker = this.#linker;
    this.#previousLink.set(linker.link);
    const digest = withheld
      ? Buffer.from(withheld.digest).toString('latin1')
      : linker.digestOf(salt, bodyDigestOf(copy));
    linker.add(head, digest, keyHash && Buffer.from(keyHash).toString('latin1'));
    if (!linker.link.equals(link)) {
      linker.continueAfter(this.#previousLink);
      return 'changed';
    }
    this.#store(copy, { time, salt, key: keyHash, isWithheld: withheld !== undefined });
    if (withheld !== undefined) {
      this.#insertWithheld(seq, withheld);
      this.#hasWithheld = true;
    }
    return undefined;
  }

  /** Does nothing unless it is withheld here, and is what its link was made of. */
  #putBack(copy: PackedCopy): void {
    const { seq, time, head, salt, link, keyHash, withheld } = copy;
    const there = readable(() => this.#reader.entry(seq))?.withheld;
    const digest = Buffer.from(this.#linker.digestOf(salt, bodyDigestOf(copy)), 'latin1');
    if (there === undefined || withheld !== undefined || !digest.equals(there.digest)) return;
    const key = readable(() => this.#reader.stored(seq))?.key ?? keyHash;
    this.#putRow(seq, copy, { time, salt, key, own: Buffer.from(head), link });
    setHidden(this.#db, seq);
  }

  /** The result for a draft whose body is missing: the entry with the same key, as for any retry. */
  withoutBody(draft: PackedDraft): WriteResult {
    return this.#find(draft, bodyDigestOf(draft)) ?? UNAVAILABLE;
  }

  repeated(seq: Seq): WriteResult {
    const entry = this.#reader.entry(seq);
    const metadata = entry === undefined ? { time: 0, salt: 0 } : metadataOf(entry);
    return { outcome: 'repeated', seq, ...metadata };
  }

  hasLarge(name: string): boolean {
    return this.#reader.hasLarge(name);
  }

  /** Goes on from the newest entry that is committed. */
  loadLast(): void {
    const last = this.#reader.last();
    this.#seq = last?.seq ?? 0;
    this.#time = last?.time ?? 0;
    this.#linker.continueAfter(last?.link ?? FIRST_LINK);
  }

  /** Also where the entry that is stored cannot be read. */
  #hasLink(seq: Seq, link: Uint8Array): boolean {
    return readable(() => this.#reader.entry(seq)?.link.equals(link)) ?? true;
  }

  #store(
    draft: Omit<PackedDraft, 'key'>,
    row: Pick<NewRow, 'time' | 'salt' | 'key' | 'isWithheld'>,
  ): void {
    const { head: own, link } = this.#linker;
    this.#putRow(this.#seq + 1, draft, { ...row, own, link });
    this.#seq += 1;
    this.#time = row.time;
  }

  /** `own`: the gateway's members, as they are printed. */
  #putRow(
    seq: Seq,
    { kind, room, facets, portability = 'exact', body, large }: Omit<PackedDraft, 'key'>,
    {
      own,
      isWithheld = false,
      ...row
    }: Pick<NewRow, 'time' | 'salt' | 'key' | 'link' | 'isWithheld'> & { readonly own: Uint8Array },
  ): void {
    let text: Uint8Array[];
    if (large !== undefined) text = large.size > 1 ? [own, COMMA] : [own];
    else text = body.length === 0 ? [own, BRACE] : [own, COMMA, body, BRACE];
    this.#rows.put(seq, {
      ...row,
      kind,
      room,
      large,
      facets: this.#reader.answered.withThread(seq, facets),
      portability,
      text,
      isWithheld,
    });
  }

  /** The entry with the key of a draft, and whether it is that draft. */
  #find(draft: PackedDraft, digest: string): WriteResult | undefined {
    const { key } = draft;
    if (key === undefined) return undefined;
    try {
      for (const seq of this.#reader.seqsOfKey(key)) {
        const row = this.#reader.entry(seq);
        if (row?.key === undefined || Buffer.compare(keyIn(row.key), key) !== 0) continue;
        const outcome = this.#isOf(row, draft, digest) ? 'repeated' : 'conflict';
        return { outcome, seq, ...metadataOf(row) };
      }
      return undefined;
    } catch (error) {
      // What cannot be read for one draft must not fail the drafts beside it.
      if (isSpoiled(error)) return UNAVAILABLE;
      throw error;
    }
  }

  /** Proven by the link, without the stored body. Of a withheld entry, nobody knows which body it had. */
  #isOf(row: EntryRow, { kind, room }: PackedDraft, digest: string): boolean {
    const { seq, salt, keyHash, text, link } = row;
    if (row.kind !== kind || row.room !== room) return false;
    if (row.withheld !== undefined) return true;
    const previous = seq === 1 ? FIRST_LINK : (this.#reader.linkOf(seq - 1) ?? FIRST_LINK);
    const body = digestOf(salt, Buffer.from(digest, 'latin1'));
    const parts = { head: text.subarray(0, row.head), digest: body, keyHash };
    return link.equals(linkOf(previous, parts));
  }
}

function metadataOf({ time, text }: EntryRow): Pick<WriteResult, 'time' | 'salt'> {
  const id = text.toString('latin1', 7, 43);
  return { time, salt: Number.parseInt(id.slice(-12), 16) % SALTS };
}

function bodyDigestOf({ body, large }: Pick<PackedDraft, 'body' | 'large'>): string {
  if (large === undefined) return sha256Binary(body);
  return Buffer.from(large.digest, 'hex').toString('latin1');
}
