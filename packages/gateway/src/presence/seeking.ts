/**
 * What visitors seek: the newest first contact of each. It is looked for once in the whole log, and then
 * only among newer entries, as long as the visitor is among those remembered.
 */
import { facet } from '../log/facet.ts';
import type { Log, Seq } from '../log/log.ts';
import { readMembers } from './read-members.ts';

/** Maximum number of remembered visitors, and of characters that each of them seeks. */
const MAX_VISITORS = 4096;
const MAX_LENGTH = 1024;

interface Remembered {
  readonly seeking: readonly string[];
  /** Later entries are not known. */
  readonly head: Seq;
}

export class SeekingReader {
  readonly #log: Log;
  /** The newest first contact of all, up to a head. */
  #contact: Seq = 0;
  #contactHead: Seq = 0;
  /** By the facet of the identity, which is short whatever the name is. */
  readonly #remembered = new Map<string, Remembered>();

  #withheld = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** What the newest first contact up to `head` seeks; empty if that entry is too long. */
  async read(identity: string, head: Seq): Promise<readonly string[]> {
    const withheld = this.#log.withheld();
    if (withheld !== this.#withheld) this.#remembered.clear();
    this.#withheld = withheld;
    const key = Buffer.from(facet('identity', identity)).toString('latin1');
    const known = this.#remembered.get(key);
    if (known !== undefined && known.head >= head) return known.seeking;
    const after = known?.head ?? 0;
    const mayHave = this.#newestContact(head) > after;
    const newer = mayHave ? await this.#readNewest(identity, after, head) : undefined;
    const seeking = newer ?? known?.seeking ?? [];
    if (this.#remembered.size >= MAX_VISITORS) this.#remembered.clear();
    const isShort = seeking.reduce((sum, { length }) => sum + length, seeking.length) <= MAX_LENGTH;
    if (isShort && this.#withheld === withheld) this.#remembered.set(key, { seeking, head });
    else this.#remembered.delete(key);
    return seeking;
  }

  /** The newest first contact of all; perhaps a later one than `head`. */
  #newestContact(head: Seq): Seq {
    if (this.#contactHead < head) {
      this.#contactHead = this.#log.head();
      const contacts = this.#log.roomCounts().filter(({ kind }) => kind === 'resonance');
      this.#contact = Math.max(0, ...contacts.map(({ latest }) => latest.seq));
    }
    return this.#contact;
  }

  /** Undefined if there is no first contact after the one seq up to the other. */
  async #readNewest(identity: string, after: Seq, to: Seq): Promise<string[] | undefined> {
    const facets = [facet('kind', 'resonance'), facet('identity', identity)];
    const newest = { facets, order: 'newest', after, before: to + 1, limit: 1 } as const;
    for await (const entry of this.#log.readEntries(newest)) {
      const { seeking } = await readMembers(entry);
      return Array.isArray(seeking) ? seeking.filter((value) => typeof value === 'string') : [];
    }
    return undefined;
  }
}
