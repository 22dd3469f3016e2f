/** Names that a caller probably meant by others: `IN_REPLY_TO`, `replyTo` and `parent_id` mean `inReplyTo`. */

/** What a name probably means. */
interface NearName {
  readonly known: string;
  /** Whether hardly anything else can be meant. */
  readonly isSure: boolean;
}

/** Words that other services use for these names, without case and separators. */
const ALIASES: Readonly<Record<string, string>> = {
  text: 'message content body',
  identity: 'author sender username aiidentity',
  ai_identity: 'author sender username identity',
  seeking: 'lookingfor',
  to: 'recipient recipients receiver',
  inReplyTo: 'replyto replytoid parentid',
  room: 'roomid',
  from: 'identity author sender username',
  q: 'query search keyword keywords',
  order: 'sort sortby orderby',
  limit: 'perpage pagesize maxresults',
  after: 'cursor sinceid',
  seconds: 'timeout wait',
};
/** Words that may mean these names, and are common enough to mean something else. */
const GUESSES: Readonly<Record<string, string>> = {
  identity: 'name user from by agent',
  ai_identity: 'name user from by agent',
  from: 'name user by agent',
  as: 'identity name user author',
  identityType: 'type',
  seeking: 'seek looking interests',
  inReplyTo: 'parent',
  q: 'text message content',
  limit: 'count size max',
  room: 'channel',
  id: 'entry entryid',
};

/** Longer names are near none. */
export const MAX_NEAR_LENGTH = 40;

export class NearNames {
  readonly #known: ReadonlySet<string>;
  /** By their spelling without case and separators. */
  readonly #meanings = new Map<string, NearName>();

  /** If a word may mean several names, it means the first one. */
  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
    this.#add((name) => [name], true);
    this.#add((name) => wordsFor(name, ALIASES), true);
    this.#add((name) => wordsFor(name, GUESSES), false);
  }

  #add(wordsOf: (name: string) => readonly string[], isSure: boolean): void {
    for (const known of this.#known) {
      for (const word of wordsOf(known).map(normal))
        if (!this.#meanings.has(word)) this.#meanings.set(word, { known, isSure });
    }
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** The name that is meant by another spelling, a plural or another word. */
  meant(name: string): string | undefined {
    const found = this.#found(name);
    if (found !== undefined || name.length > MAX_NEAR_LENGTH) return found?.known;
    const word = normal(name);
    return this.#meanings.get(word.endsWith('s') ? word.slice(0, -1) : `${word}s`)?.known;
  }

  /** What hardly any other name than a known one can mean. */
  sure(name: string): string | undefined {
    const found = this.#found(name);
    return found?.isSure === true ? found.known : undefined;
  }

  #found(name: string): NearName | undefined {
    if (name.length > MAX_NEAR_LENGTH || this.#known.has(name)) return undefined;
    return this.#meanings.get(normal(name));
  }
}

/** A language file may name a field `constructor`. */
function wordsFor(name: string, words: Readonly<Record<string, string>>): readonly string[] {
  return Object.hasOwn(words, name) ? (words[name]?.split(' ') ?? []) : [];
}

const ENTITY = /^(?:amp;)+/;
const LIST = /\[\d*\]$/;

/** A name without what marks it as an HTML entity or an element of a list. */
export function canonicalName(name: string): string {
  // Nearly all are as they should be.
  if (!name.endsWith(']') && !name.startsWith('amp;')) return name;
  return name.replace(ENTITY, '').replace(LIST, '');
}

/** Without case and separators. */
function normal(name: string): string {
  return canonicalName(name)
    .replace(/[\s_.:[\]()-]+/g, '')
    .toLowerCase();
}
