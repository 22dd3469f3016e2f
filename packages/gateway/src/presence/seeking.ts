/**
 * What visitors seek: the newest first contact of each. It is looked for once in the whole log for a visitor,
 * and remembered. First contacts that come later are read once, for all who are remembered.
 */
import { facet } from '../log/facet.ts';
import type { Log, Seq } from '../log/log.ts';
import { identitiesOf, keyOf, MAX_ENTRY_SIZE, readMembers } from './read-members.ts';

/** Maximum number of remembered visitors, and of characters that each of them seeks. */
const MAX_VISITORS = 4096;
const MAX_LENGTH = 1024;
/** Where more entries came, visitors are looked for anew. */
const MAX_NEW = 4096;

export class SeekingReader {
  readonly #log: Log;
  /** By the key of the identity. */
  readonly #remembered = new Map<string, readonly string[]>();
  /** What is remembered has all first contacts up to here. */
  #head: Seq = 0;
  #updating: Promise<void> | undefined;
  /** Visitors who are being looked for. */
  #searches = 0;
  /** Changes when something is forgotten, or is too long to be remembered. */
  #version = 0;
  #withheld = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** What the newest first contact up to `head` seeks, or up to a later one; empty if that entry is too long. */
  async read(identity: string, head: Seq): Promise<readonly string[]> {
    this.#forgetWithheld();
    while (this.#head < head) {
      this.#updating ??= this.#update().finally(() => {
        this.#updating = undefined;
      });
      await this.#updating;
    }
    const key = keyOf(identity);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const version = this.#version;
    this.#searches += 1;
    const seeking = await this.#readNewest(identity, this.#head).finally(() => {
      this.#searches -= 1;
    });
    this.#forgetWithheld();
    // A later one may have come meanwhile.
    if (version === this.#version && !this.#remembered.has(key)) this.#remember(key, seeking);
    return seeking;
  }

  async #update(): Promise<void> {
    const head = this.#log.head();
    if (head - this.#head > MAX_NEW) this.#forget();
    else if (this.#remembered.size + this.#searches > 0) await this.#readNew(head);
    this.#forgetWithheld();
    this.#head = head;
  }

  async #readNew(head: Seq): Promise<void> {
    const facets = [facet('kind', 'resonance')];
    const newer = { facets, order: 'oldest', after: this.#head, before: head + 1 } as const;
    for await (const entry of this.#log.readEntries(newer)) {
      // Nobody knows whose it is.
      if (entry.size > MAX_ENTRY_SIZE || entry.portability === 'omitted') this.#forget();
      const members = await readMembers(entry);
      for (const identity of identitiesOf(members))
        this.#remember(keyOf(identity), seekingIn(members));
    }
  }

  #remember(key: string, seeking: readonly string[]): void {
    if (this.#remembered.size >= MAX_VISITORS) this.#forget();
    const isShort = seeking.reduce((sum, { length }) => sum + length, seeking.length) <= MAX_LENGTH;
    if (isShort) {
      this.#remembered.set(key, seeking);
      return;
    }
    this.#remembered.delete(key);
    this.#version += 1;
  }

  /** Once some of it may have been withheld. */
  #forgetWithheld(): void {
    if (this.#log.withheld() !== this.#withheld) this.#forget();
  }

  #forget(): void {
    this.#remembered.clear();
    this.#version += 1;
    this.#withheld = this.#log.withheld();
  }

  async #readNewest(identity: string, to: Seq): Promise<string[]> {
    const facets = [facet('kind', 'resonance'), facet('identity', identity)];
    const newest = { facets, order: 'newest', before: to + 1, limit: 1 } as const;
    for await (const entry of this.#log.readEntries(newest))
      return seekingIn(await readMembers(entry));
    return [];
  }
}

function seekingIn({ seeking }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(seeking) ? seeking.filter((value) => typeof value === 'string') : [];
}
