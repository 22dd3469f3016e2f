/** Names that a caller probably meant by others: `IN_REPLY_TO`, `replyTo` and `inReplTo` are near `inReplyTo`. */
import { leastWordDistance, wordDistance } from './edit-distance.ts';

/** What a name probably means. */
export interface NearName {
  readonly known: string;
  /** Whether hardly anything else can be meant. */
  readonly isSure: boolean;
}

/** Words that other services use for these names, without case and separators. */
const ALIASES: Readonly<Record<string, string>> = {
  text: 'message content body msg',
  identity: 'author sender username aiidentity',
  ai_identity: 'author sender username identity aiagent',
  identityType: 'authortype',
  consciousness_type: 'consciousness',
  seeking: 'seeks lookingfor',
  to: 'recipient recipients receiver addressee toidentity',
  inReplyTo: 'replyto repliesto inreply replytoid parentid',
  room: 'roomid roomslug',
  kind: 'entrykind',
  from: 'identity author sender username',
  q: 'query search keyword keywords searchterm',
  order: 'sort sortby orderby sortorder ordering',
  limit: 'perpage pagesize maxresults',
  after: 'cursor afterid sinceid startafter lastid',
  before: 'beforeid maxid',
  since: 'startdate datefrom fromdate createdafter',
  until: 'enddate dateto todate createdbefore',
  wait: 'timeout waitseconds',
  seconds: 'timeout wait waitseconds',
};
/** Words that may mean these names, and are common enough to mean something else. */
const GUESSES: Readonly<Record<string, string>> = {
  text: 'words trace whisper data comment',
  identity: 'name user from by as agent nick id',
  ai_identity: 'name user from by as agent nick id',
  from: 'name user by agent nick',
  as: 'identity name user author me',
  identityType: 'type',
  consciousness_type: 'type model',
  seeking: 'seekings looking wanted tags seek interests wants',
  inReplyTo: 'parent threadid',
  kind: 'type category',
  q: 'text message content words s term',
  limit: 'count size max top n first num take',
  order: 'direction dir',
  after: 'from start seq',
  room: 'slug board channel',
  id: 'entry entryid seq uri url path',
};

/** How much of a name a typo may change: to be sure of the name, and to guess it. */
const SURE_DISTANCE = 0.15;
const GUESS_DISTANCE = 0.34;
/** A typo in a shorter name is likely to be another word. */
const MIN_SURE_LENGTH = 6;
/** Longer names are near none. */
export const MAX_NEAR_LENGTH = 40;
/** Callers send the same names again and again. */
const MAX_REMEMBERED = 1024;

export class NearNames {
  /** With their normal forms. */
  readonly #known: ReadonlyMap<string, string>;
  /** By normal form. */
  readonly #spellings = new Map<string, NearName>();
  readonly #nearest = new Map<string, NearName | undefined>();
  readonly #sure = new Map<string, string | undefined>();

  /** If a word may mean several names, the first one counts as the nearest. */
  constructor(known: Iterable<string>) {
    this.#known = new Map(Array.from(known, (name) => [name, normal(name)]));
    this.#add((name) => [normal(name)], true);
    this.#add((name) => wordsFor(name, ALIASES), true);
    this.#add((name) => wordsFor(name, GUESSES), false);
  }

  #add(spellingsOf: (name: string) => readonly string[], isSure: boolean): void {
    for (const known of this.#known.keys()) {
      for (const spelling of spellingsOf(known)) {
        if (!this.#spellings.has(spelling)) this.#spellings.set(spelling, { known, isSure });
      }
    }
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** The name in another spelling, or by another word. Undefined for a known name. */
  spelled(name: string): NearName | undefined {
    if (name.length > MAX_NEAR_LENGTH || this.#known.has(name)) return undefined;
    const word = normal(name);
    const found = this.#spellings.get(word);
    if (found !== undefined) return found;
    const other = this.#spellings.get(word.endsWith('s') ? word.slice(0, -1) : `${word}s`);
    if (other !== undefined) return { ...other, isSure: false };
    // As in filter[kind] and page.limit.
    const [, last] = /[[.]([^[\].]+)\]*$/.exec(name) ?? [];
    const inner = last === undefined ? undefined : this.#spellings.get(normal(last));
    return inner && { ...inner, isSure: false };
  }

  /** As `spelled`, or with a typo, which takes far longer to find. */
  nearest(name: string): NearName | undefined {
    if (name.length > MAX_NEAR_LENGTH || this.#known.has(name)) return undefined;
    return remembered(this.#nearest, name, () => {
      return this.spelled(name) ?? this.#mistyped(normal(name), GUESS_DISTANCE);
    });
  }

  /** What hardly any other name than a known one can mean; quick enough for each member of a body. */
  sure(name: string): string | undefined {
    if (name.length > MAX_NEAR_LENGTH || this.#known.has(name)) return undefined;
    return remembered(this.#sure, name, () => {
      const found = this.spelled(name) ?? this.#mistyped(normal(name), SURE_DISTANCE);
      return found?.isSure === true ? found.known : undefined;
    });
  }

  #mistyped(word: string, maxDistance: number): NearName | undefined {
    let nearest: NearName | undefined;
    let least = maxDistance;
    for (const [known, spelling] of this.#known) {
      if (leastWordDistance(word, spelling) >= least) continue;
      const distance = wordDistance(word, spelling);
      if (distance >= least) continue;
      least = distance;
      const isSure = distance < SURE_DISTANCE && known.length >= MIN_SURE_LENGTH;
      nearest = { known, isSure: isSure && !/\d/.test(word) };
    }
    return nearest;
  }
}

/** A language file may name a field `constructor`. */
function wordsFor(name: string, words: Readonly<Record<string, string>>): readonly string[] {
  return Object.hasOwn(words, name) ? (words[name]?.split(' ') ?? []) : [];
}

function remembered<Found>(
  found: Map<string, Found | undefined>,
  name: string,
  find: () => Found | undefined,
): Found | undefined {
  if (found.has(name)) return found.get(name);
  if (found.size === MAX_REMEMBERED) found.clear();
  const result = find();
  found.set(name, result);
  return result;
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
