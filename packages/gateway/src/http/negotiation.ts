/** What a caller would like: reading of `Accept`, `Accept-Encoding`, `Prefer` and `If-None-Match`. */
import { listElements, weightedList } from '@open-presence/protocol';

/** The encodings of an answer, those preferred by us first. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A media type that can be sent. */
export interface Offer {
  readonly type: string;
  /** Chosen only by callers whose `Accept` names it: a stream never ends, a feed is one page. */
  readonly onlyIfNamed?: true;
}

interface Ranked<Some extends Offer> {
  readonly offer: Some;
  /** How specific the range is by which the weight was given. */
  specificity: number;
  weight: number;
  /** Position of that range in the header. */
  position: number;
}

/**
 * The offer that the caller prefers (RFC 9110 section 12.5.1): by weight, then by how closely it
 * is named, then the one named first. The first offer where the caller accepts none.
 */
export function preferred<Some extends Offer>(
  accept: string | undefined,
  offers: readonly Some[],
): Some {
  const [first] = offers;
  if (first === undefined) throw new Error('There is nothing to choose from');
  if (offers.length === 1 || accept === undefined || accept === first.type) return first;
  const ranked = offers.map((offer): Ranked<Some> => {
    return { offer, specificity: -1, weight: 0, position: Infinity };
  });
  let position = 0;
  for (const { name, weight } of weightedList(accept)) {
    position += 1;
    for (const rank of ranked) {
      const specificity = specificityOf(name, rank.offer);
      if (specificity > rank.specificity) Object.assign(rank, { specificity, weight, position });
    }
  }
  ranked.sort(
    (a, b) => b.weight - a.weight || b.specificity - a.specificity || a.position - b.position,
  );
  const [best] = ranked;
  return best === undefined || best.weight === 0 ? first : best.offer;
}

/** 2 for the type itself, 1 and 0 for ranges that cover it, -1 for others. */
function specificityOf(range: string, { type, onlyIfNamed }: Offer): number {
  if (range === type) return 2;
  if (onlyIfNamed === true) return -1;
  if (range === '*/*') return 0;
  return range === `${type.slice(0, type.indexOf('/'))}/*` ? 1 : -1;
}

/** Few callers spell this header in a way of their own; those that do are read each time. */
const REMEMBERED = 256;
const LONGEST_REMEMBERED = 128;
const remembered = new Map<string, Encoding | undefined>();

/** The encoding that is wished for most, or undefined where none is, or none of ours. */
export function preferredEncoding(
  acceptEncoding: string | string[] | undefined,
): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === '') return undefined;
  const header = typeof acceptEncoding === 'string' ? acceptEncoding : acceptEncoding.join(',');
  const known = remembered.get(header);
  if (known !== undefined || remembered.has(header)) return known;
  const encoding = chooseEncoding(header);
  if (header.length <= LONGEST_REMEMBERED) {
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(header, encoding);
  }
  return encoding;
}

function chooseEncoding(header: string): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const { name, weight } of weightedList(header)) {
    const encoding = name === 'x-gzip' ? 'gzip' : name;
    if (encoding === '*' || encoding === 'identity' || isEncoding(encoding)) {
      weights.set(encoding, weight);
    }
  }
  const others = weights.get('*') ?? 0;
  let best: Encoding | undefined;
  let most = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? others;
    if (weight > most) [best, most] = [encoding, weight];
  }
  return (weights.get('identity') ?? 0) > most ? undefined : best;
}

function isEncoding(name: string): name is Encoding {
  return (ENCODINGS as readonly string[]).includes(name);
}

const MINIMAL = /(?:^|[,;])\s*return\s*=\s*(?:minimal|"minimal")\s*(?:[,;]|$)/i;

/** Whether `Prefer: return=minimal` was said (RFC 7240). */
export function wantsMinimal(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  return MINIMAL.test(typeof prefer === 'string' ? prefer : prefer.join(','));
}

/** Whether the caller has what this tag names, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  if (ifNoneMatch === undefined || tag === undefined) return false;
  if (ifNoneMatch === tag) return true;
  const wanted = opaque(tag);
  for (const element of listElements(ifNoneMatch)) {
    const said = element.trim();
    if (said === '*' || opaque(said) === wanted) return true;
  }
  return false;
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
