/**
 * How many answers entries have that pages have shown lately. Each is counted in the index once, which takes a
 * third of a millisecond, and then kept up to date from new entries.
 */
import type { Log, Seq } from '../../../log/log.ts';
import { readVersion } from '../../../operations/read-version.ts';
import { countReplies } from '../../../operations/replies.ts';

const MAX_COUNTS = 4096;
/** Where more entries came, answers are counted anew. */
const MAX_NEW = 4096;

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
    for await (const { answered: id } of this.#log.readEntries(newer))
      if (id !== undefined) answered.set(id, (answered.get(id) ?? 0) + 1);
    // Only now: what was counted meanwhile was counted up to the head before.
    for (const [id, added] of answered) {
      const count = this.#counts.get(id);
      if (count !== undefined) this.#counts.set(id, count + added);
    }
  }
}
