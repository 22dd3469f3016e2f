/**
 * How many answers entries have that pages have shown lately. Each is counted in the index once, which takes a
 * third of a millisecond, and then kept up to date from new entries.
 */
import { referencedId } from '@open-presence/protocol';

import type { Entry, Log, Seq } from '../../../log/log.ts';
import { readVersion } from '../../../operations/read-version.ts';
import { countReplies } from '../../../operations/replies.ts';
import { MAX_ENTRY_SIZE, readMembers } from '../../../presence/read-members.ts';

const MAX_COUNTS = 4096;
/** Where more entries came, answers are counted anew. */
const MAX_NEW = 4096;
/** How many different entries these may answer: one may name thousands. */
const MAX_ANSWERED = 65_536;

const byLog = new WeakMap<Log, ReplyCounts>();

export function replyCountsOf(log: Log): ReplyCounts {
  const known = byLog.get(log) ?? new ReplyCounts(log);
  byLog.set(log, known);
  return known;
}

class ReplyCounts {
  readonly #log: Log;
  /** By the id of the entry; up to `#head`. */
  readonly #counts = new Map<string, number>();
  #head: Seq = 0;
  #version = '';
  #updating: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  async read(entry: { readonly seq: Seq; readonly id: string }): Promise<number> {
    const newest = this.#log.head();
    while (this.#head < newest || this.#version !== readVersion(this.#log)) {
      this.#updating ??= this.#update().finally(() => {
        this.#updating = undefined;
      });
      await this.#updating;
    }
    const known = this.#counts.get(entry.id);
    if (known !== undefined) return known;
    const [head, version] = [this.#head, this.#version];
    const count = await countReplies(this.#log, entry, head);
    // Others may have come meanwhile.
    if (head === this.#head && version === this.#version) {
      if (this.#counts.size >= MAX_COUNTS) this.#counts.clear();
      this.#counts.set(entry.id, count);
    }
    return count;
  }

  async #update(): Promise<void> {
    const head = this.#log.head();
    const version = readVersion(this.#log);
    if (version !== this.#version || head - this.#head > MAX_NEW) this.#counts.clear();
    else if (this.#counts.size > 0) await this.#readNew(head);
    this.#version = version;
    this.#head = head;
  }

  async #readNew(head: Seq): Promise<void> {
    const newer = { facets: [], order: 'oldest', after: this.#head, before: head + 1 } as const;
    const answered = new Map<string, number>();
    for await (const entry of this.#log.readEntries(newer)) {
      if (entry.thread === entry.metadata.seq) continue;
      // What a long entry answers is looked for in the index.
      if (entry.size > MAX_ENTRY_SIZE || answered.size > MAX_ANSWERED) return this.#counts.clear();
      for (const id of await answeredBy(entry)) answered.set(id, (answered.get(id) ?? 0) + 1);
    }
    // Only now: what was counted meanwhile was counted up to the head before.
    for (const [id, added] of answered) {
      const count = this.#counts.get(id);
      if (count !== undefined) this.#counts.set(id, count + added);
    }
    return undefined;
  }
}

/** Each once. */
async function answeredBy(entry: Entry): Promise<ReadonlySet<string>> {
  const { inReplyTo } = await readMembers(entry);
  const values: readonly unknown[] = Array.isArray(inReplyTo) ? inReplyTo : [inReplyTo];
  const ids = values.map((value) => (typeof value === 'string' ? referencedId(value) : undefined));
  return new Set(ids.filter((id) => id !== undefined));
}
