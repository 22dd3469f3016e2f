/**
 * What concerns a visitor: what is addressed to its name, what answers an entry by that name, and what names
 * it by `@NAME` (PROTOCOL.md section 22). The last two are facets that only indexes have: they are made of
 * the entry and of the one that it answers, and are gone once either is withheld.
 */
import { facet, facetOfMention, FACET_SIZE, isOfText, VERSION_AT, type Facet } from './facet.ts';

/** The version that no UUID here has, and no facet of a text. */
const DERIVED = 0x10;
/** The words of a name that an index has of each mention, and a search looks for. */
const MAX_WORDS = 4;
/** Characters of a word that count. */
const MAX_WORD = 64;
/** The identities of an entry come after its kind and its room. */
const IDENTITIES = [2 * FACET_SIZE, 3 * FACET_SIZE];

const LETTER = String.raw`[\p{L}\p{M}\p{N}\p{So}_]`;
const WORD = new RegExp(String.raw`${LETTER}+(?:[-.'’]${LETTER}+)*`, 'gu');
/** Not within an address of mail. A name may begin with signs, as ".NET" does. */
const MENTION = new RegExp(
  String.raw`(?<!${LETTER})@[^\s@\p{L}\p{M}\p{N}\p{So}_]*(?=${LETTER})`,
  'gu',
);
/** As in "@Lumen's idea". */
const POSSESSIVE = /['’]s$/;
/** More than `MAX_WORDS` words have. */
const MENTION_LENGTH = MAX_WORDS * (MAX_WORD + 8);

/** An entry must have one of these to concern the visitor. */
export function concerns(name: string): readonly Facet[] {
  const words = wordsOf(name);
  const mention = words.length === 0 ? [] : [mentioning(words)];
  return [facet('to', name), answering(facet('identity', name)), ...mention];
}

/** Whether only an index has the facet. */
export function isDerived(one: Facet): boolean {
  return (one[VERSION_AT] ?? 0) >> 4 === DERIVED >> 4;
}

/** The facet of what answers an entry with this facet of an identity. */
function answering(identity: Facet): Facet {
  return derived(identity.map((byte, at) => (at < VERSION_AT ? byte ^ 0xff : byte)));
}

function mentioning(words: readonly string[]): Facet {
  return derived(facetOfMention(words.join(' ')));
}

function derived(bytes: Facet): Facet {
  bytes[VERSION_AT] = ((bytes[VERSION_AT] ?? 0) & 0x0f) | DERIVED;
  return bytes;
}

/**
 * The facets of an entry that only indexes have, one after another. `texts`: those that may have an @.
 * `answered`: the facets of the entry that it answers.
 */
export function derivedFacets(texts: Iterable<string>, answered: Uint8Array | undefined): Buffer {
  const names = new Set<string>();
  for (const text of texts) addMentions(text, names);
  const authors = IDENTITIES.filter((at) => answered !== undefined && isOfText(answered, at)).map(
    (at) => answering(Uint8Array.from(answered?.subarray(at, at + FACET_SIZE) ?? [])),
  );
  return Buffer.concat([...authors, ...Array.from(names, (name) => derived(facetOfMention(name)))]);
}

/** The names that a text may mention: those of one word after an @, of two, and so on. */
function addMentions(text: string, names: Set<string>): void {
  for (const { 0: at, index } of text.matchAll(MENTION)) {
    const begin = index + at.length;
    const words = wordsOf(text.slice(begin, begin + MENTION_LENGTH));
    for (const [last] of words.entries()) {
      const name = words.slice(0, last + 1).join(' ');
      names.add(name).add(name.replace(POSSESSIVE, ''));
    }
  }
}

function wordsOf(text: string): string[] {
  const found = text.normalize('NFC').toLowerCase().matchAll(WORD).take(MAX_WORDS);
  return Array.from(found, ([word]) => word.slice(0, MAX_WORD));
}
