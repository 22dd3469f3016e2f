/** What visitors seek: each visitor's newest first contact. It is searched for once, and then kept up to date. */
import { facet } from '../log/facet.ts';
import type { Log, Seq } from '../log/log.ts';
import { identitiesOf, keyOf, MAX_ENTRY_SIZE, readMembers } from './read-members.ts';

/** Maximum number of remembered visitors, and of characters that each of them seeks. */
const MAX_VISITORS = 4096;
const MAX_LENGTH = 1024;
/** Visitors who are looked for together. */
export const MAX_TOGETHER = 16;
/** Where more entries came, visitors are looked for anew. */
const MAX_NEW = 4096;

export class SeekingReader {
  readonly #log: Log;
  /** By the key of the identity. */
  readonly #remembered = new Map<string, readonly string[]>();
  /** What is remembered has all first contacts up to here. */
  #head: Seq = 0;
  #updating: Promise<void> | undefined;
  #searches = 0;
  /** Changes when something is forgotten, or is too long to be remembered. */
  #version = 0;
  #withheld = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Up to `head` or later. Empty if that entry is too long. `next`: visitors who will be asked for, searched for
   * at the same time.
   */
  async read(
    identity: string,
    head: Seq,
    next: readonly string[] = [],
  ): Promise<readonly string[]> {
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
    const together = new Map([identity, ...next].map((other) => [keyOf(other), other]));
    this.#searches += 1;
    const found = await this.#readNewest(this.#unknownOf(together), this.#head).finally(() => {
      this.#searches -= 1;
    });
    this.#forgetWithheld();
    for (const [other, seeking] of found) {
      // A later one may have come meanwhile.
      const isNewest = version === this.#version && !this.#remembered.has(other);
      if (isNewest) this.#remember(other, seeking);
    }
    return found.get(key) ?? [];
  }

  /** The first of these who are not remembered. */
  #unknownOf(identities: ReadonlyMap<string, string>): Map<string, string> {
    const unknown = identities.entries().filter(([key]) => !this.#remembered.has(key));
    return new Map(unknown.take(MAX_TOGETHER));
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

  /** One search finds the newest first contact of them all; the last search finds none. Takes and returns keys. */
  async #readNewest(
    identities: ReadonlyMap<string, string>,
    to: Seq,
  ): Promise<Map<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const left = new Map(identities); left.size > 0;) {
      const any = Array.from(left.values(), (identity) => facet('identity', identity));
      const facets = [facet('kind', 'resonance'), any];
      const newest = { facets, order: 'newest', before: to + 1, limit: 1 } as const;
      const [entry] = await Array.fromAsync(this.#log.readEntries(newest));
      const members = entry === undefined ? {} : await readMembers(entry);
      const authors = Array.from(identitiesOf(members), keyOf).filter((key) => left.has(key));
      const isUnknown = entry !== undefined && authors.length === 0 && left.size > 1;
      // Too long to know whose it is: each is looked for alone.
      if (isUnknown)
        for (const one of left)
          for (const [key, seeking] of await this.#readNewest(new Map([one]), to))
            found.set(key, seeking);
      else if (authors.length === 0) for (const key of left.keys()) found.set(key, []);
      for (const key of authors) found.set(key, seekingIn(members));
      for (const key of found.keys()) left.delete(key);
    }
    return found;
  }
}

function seekingIn({ seeking }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(seeking) ? seeking.filter((value) => typeof value === 'string') : [];
}
