/** What a caller would like: reading of `Accept`, `Accept-Encoding`, `Prefer` and `If-None-Match`. */
import { listElements, weightedList, type FeedForm } from '@open-presence/protocol';

/** The forms of a listing (PROTOCOL.md section 8.4). */
export type Form = 'json' | 'ndjson' | 'events' | FeedForm;

/** The encodings of an answer, those preferred by us first. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

interface Ranked {
  readonly form: Form;
  /** By how specific a range the weight was said. */
  specific: number;
  weight: number;
  /** Place in the header. */
  at: number;
}

const RANGES: Readonly<Record<Form, readonly string[]>> = {
  json: ['*/*', 'application/*', 'application/json'],
  ndjson: ['*/*', 'application/*', 'application/x-ndjson'],
  // A stream never ends: only who names it means it.
  events: ['', '', 'text/event-stream'],
  // Nor is a page of a feed everything.
  atom: ['', '', 'application/atom+xml'],
  'json-feed': ['', '', 'application/feed+json'],
};
const FORMS: readonly Form[] = ['json', 'ndjson', 'events', 'atom', 'json-feed'];

/**
 * The form that is wished for most: by weight, then the one that is named more closely, then the
 * one named first, then JSON.
 */
export function formOf(accept: string | undefined): Form {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'json';
  const ranked = FORMS.map((form): Ranked => ({ form, specific: -1, weight: 0, at: 0 }));
  let at = 0;
  for (const { name, weight } of weightedList(accept)) {
    at += 1;
    for (const rank of ranked) {
      const specific = RANGES[rank.form].indexOf(name);
      if (specific > rank.specific) Object.assign(rank, { specific, weight, at });
    }
  }
  ranked.sort((a, b) => b.weight - a.weight || b.specific - a.specific || a.at - b.at);
  const [best] = ranked;
  return best === undefined || best.weight === 0 ? 'json' : best.form;
}

/** Few callers spell this header in a way of their own; those that do are read each time. */
const REMEMBERED = 256;
const LONGEST_REMEMBERED = 128;
const remembered = new Map<string, Encoding | undefined>();

/** The encoding that is wished for most, or undefined where none is, or none of ours. */
export function encodingOf(acceptEncoding: string | string[] | undefined): Encoding | undefined {
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
export function hasTag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
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
