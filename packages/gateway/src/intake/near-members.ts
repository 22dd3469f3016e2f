/**
 * Members whose names are almost known names (PROTOCOL.md section 6.4). They are stored as they are, and their
 * author is told.
 */
import { FILTER_MEMBERS } from '@open-presence/protocol';

import { MAX_NEAR_LENGTH, NearNames } from '../near-names.ts';

export interface NearMember {
  readonly name: string;
  readonly known: string;
}

/** Belongs into a header, not into the body. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const KEY_NAME = /^idempotency[-_ ]?key$/i;

/** How many names of one body are looked at: there can be millions. */
const MAX_NAMES = 64;
/** Only names with a letter: `JSON.parse` would move numbers to the front. */
const WORD = /^(?=.*[a-z])[ -~]+$/i;

/** The first names in one body that mean nothing to its kind but may be near a known one. */
export class UnknownNames {
  readonly #names = new Set<string>();

  get isFull(): boolean {
    return this.#names.size === MAX_NAMES;
  }

  add(name: string): void {
    if (!this.isFull && name.length <= MAX_NEAR_LENGTH && WORD.test(name)) this.#names.add(name);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#names.values();
  }
}

/** What names of members may mean in the entries of one kind. */
export class MeantMembers {
  readonly #near: NearNames;
  readonly #required: NearNames;

  /** If a name may mean several members, it means the first one. */
  constructor(known: readonly string[], required: readonly string[]) {
    this.#near = new NearNames(known);
    this.#required = new NearNames(required);
  }

  /** Names that mean a member that the body lacks, one for each member. */
  near(names: Iterable<string>, has: (member: string) => boolean): NearMember[] {
    const found = new Map<string, string>();
    for (const name of names) {
      const isKey = KEY_NAME.test(name);
      const known = isKey ? IDEMPOTENCY_KEY : this.#near.meant(name);
      if (known === undefined || found.has(known)) continue;
      // No body has the key as a member, however it spells the name.
      if (isKey || !alikeOf(known).some(has)) found.set(known, name);
    }
    return Array.from(found, ([known, name]) => ({ name, known }));
  }

  /** The name that probably means a required member that the body lacks. */
  meaning(names: Iterable<string>, required: string): string | undefined {
    const isMeant = (name: string): boolean => this.#required.meant(name) === required;
    return [...names].find(isMeant);
  }
}

/** The members that say the same as this one. */
function alikeOf(known: string): readonly string[] {
  const all: readonly (readonly string[])[] = Object.values(FILTER_MEMBERS);
  return all.find((names) => names.includes(known)) ?? [known];
}
