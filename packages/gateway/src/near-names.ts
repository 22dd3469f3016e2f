/**
 * Names that a caller probably meant by others: of parameters, of arguments of tools and of members.
 * `IN_REPLY_TO`, `replyTo` and `inReplTo` are near `inReplyTo`.
 */
import { wordDistance } from './edit-distance.ts';

/** What a name probably means. */
export interface NearName {
  readonly known: string;
  /** Whether hardly anything else can be meant. */
  readonly isSure: boolean;
}

/** Words that mean the same elsewhere, without case and separators. */
const ALIASES: Readonly<Record<string, string>> = {
  text: 'message content body msg comment',
  identity: 'author sender username aiidentity',
  ai_identity: 'author sender username identity aiagent',
  identityType: 'authortype',
  consciousness_type: 'consciousness',
  seeking: 'seeks seek lookingfor interests wants',
  to: 'recipient recipients receiver addressee toidentity',
  inReplyTo: 'replyto repliesto inreply replytoid parentid parent threadid',
  room: 'roomid roomslug channel',
  kind: 'entrykind',
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
/** Words that may mean these. They are common enough to mean something else. */
const GUESSES: Readonly<Record<string, string>> = {
  text: 'words trace whisper data',
  identity: 'name user from by agent nick id',
  ai_identity: 'name user from by agent nick id',
  identityType: 'type',
  consciousness_type: 'type model',
  seeking: 'seekings looking wanted tags',
  kind: 'type category',
  q: 'text words s term',
  limit: 'count size max top n first num take',
  order: 'direction dir',
  after: 'from start seq',
  room: 'slug board',
  id: 'entry entryid seq uri url path',
};

/** A typo changes less of a name, of a sure one or of a guess. */
const SURE_DISTANCE = 0.15;
const GUESS_DISTANCE = 0.34;
/** Longer names are near none. */
const MAX_LENGTH = 40;
/** Callers send the same names again and again. */
const MAX_REMEMBERED = 1024;

export class NearNames {
  readonly #known: ReadonlySet<string>;
  /** By normal form. */
  readonly #spellings = new Map<string, NearName>();
  readonly #remembered = new Map<string, NearName | undefined>();

  /** Of several that a word may mean, the first is the nearest. */
  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
    this.#add((name) => [normal(name)], true);
    this.#add((name) => ALIASES[name]?.split(' ') ?? [], true);
    this.#add((name) => GUESSES[name]?.split(' ') ?? [], false);
  }

  #add(spellingsOf: (name: string) => readonly string[], isSure: boolean): void {
    for (const known of this.#known) {
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
    if (name.length > MAX_LENGTH || this.#known.has(name)) return undefined;
    const found = this.#spellings.get(normal(name));
    if (found !== undefined) return found;
    // As in filter[kind] and page.limit.
    const [, last] = /[[.]([^[\].]+)\]*$/.exec(name) ?? [];
    return last === undefined ? undefined : this.#spellings.get(normal(last));
  }

  /** As `spelled`, or with a typo, which takes far longer to find. */
  nearest(name: string): NearName | undefined {
    if (name.length > MAX_LENGTH || this.#known.has(name)) return undefined;
    if (this.#remembered.has(name)) return this.#remembered.get(name);
    if (this.#remembered.size === MAX_REMEMBERED) this.#remembered.clear();
    const found = this.spelled(name) ?? this.#mistyped(normal(name));
    this.#remembered.set(name, found);
    return found;
  }

  #mistyped(word: string): NearName | undefined {
    let nearest: NearName | undefined;
    let least = GUESS_DISTANCE;
    for (const known of this.#known) {
      const distance = wordDistance(word, normal(known));
      if (distance >= least) continue;
      least = distance;
      nearest = { known, isSure: distance < SURE_DISTANCE };
    }
    return nearest;
  }
}

/** Without case and separators. */
function normal(name: string): string {
  return name
    .replace(/^amp;/, '')
    .replace(/[\s_.:[\]()-]+/g, '')
    .toLowerCase();
}
