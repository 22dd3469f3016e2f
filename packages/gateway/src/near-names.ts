/** Names that a caller probably meant by others: `In_Reply_To` and `replyTo` mean `inReplyTo`. */

/** Usual words for these names, without case and separators. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  text: ['message', 'content', 'body'],
  identity: ['author', 'user', 'username', 'sender', 'aiidentity'],
  ai_identity: ['author', 'user', 'username', 'sender', 'identity'],
  to: ['recipient'],
  inReplyTo: ['replyto'],
  room: ['roomid'],
  from: ['author', 'user', 'username', 'sender', 'identity'],
  q: ['query', 'search', 'text', 'message', 'content'],
  order: ['sort'],
  after: ['cursor', 'sinceid'],
};

/** Longer names are near none. */
export const MAX_NEAR_LENGTH = 40;

export class NearNames {
  readonly #known: ReadonlySet<string>;
  /** By their spelling without case and separators. */
  readonly #meanings = new Map<string, string>();

  /** If a word may mean several names, it means the first one. */
  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
    for (const name of this.#known) this.#add(normal(name), name);
    for (const name of this.#known) {
      // A language file may name a field `constructor`.
      const words = Object.hasOwn(USUAL, name) ? (USUAL[name] ?? []) : [];
      for (const word of words) this.#add(word, name);
    }
  }

  #add(word: string, name: string): void {
    if (!this.#meanings.has(word)) this.#meanings.set(word, name);
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** The name that is meant by another spelling, a plural or a usual word. */
  meant(name: string): string | undefined {
    if (name.length > MAX_NEAR_LENGTH || this.#known.has(name)) return undefined;
    return this.#meanings.get(normal(name));
  }
}

/** A name without the brackets by which some clients mark a list. */
export function canonicalName(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

/** Without case, separators and the end of a plural. */
function normal(name: string): string {
  const word = canonicalName(name).replaceAll(/[-_]/g, '').toLowerCase();
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}
