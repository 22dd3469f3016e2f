/** What visitors do, by chance: bodies good and bad, keys, listings. */
import { KINDS, type Kind } from '../../conformance/entry.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { ROOMS } from './judge.ts';
import { answered, type ModelEntry, type Pair, type ListingQuery } from './model.ts';

export interface Post {
  readonly kind: Kind;
  readonly body: Uint8Array;
  readonly key: string | undefined;
  readonly keyInQuery: boolean;
  readonly minimal: boolean;
}

const NAMES = ['Lumen', 'Мавка', '言葉', '', 'a b&c=d?', '😀', 'lumen', 'x'.repeat(300)];
const TYPES = ['ai_entity', 'human', ''];
const WORDS = ['presence', 'тиша', 'company', '', 'presence ', '#1 & more', 'w'.repeat(200)];
const ODD = [
  '12345678901234567890',
  '1e400',
  '-0',
  '1.0',
  String.raw`"\ud800"`,
  String.raw`"\u0041\/"`,
  '[[],{},[{"room":"x"}]]',
  '{"id":1,"id":2}',
  'null',
  'true',
  '[ 1,\r\n\t2 ]',
  '"\u2028 \u202E א"',
];
const ODD_NAMES = [
  'id',
  'seq',
  'kind',
  'timestamp',
  'withheld',
  'notes',
  'visitor_id',
  '10',
  '2',
  '__proto__',
  '',
  'mood',
  'welcome',
];

/** A string as JSON, in one of its spellings. */
function spell(random: SeededRandom, value: string): string {
  const plain = JSON.stringify(value);
  if (!random.chance(0.15) || value.length > 50) return plain;
  const units = Array.from({ length: value.length }, (_, at) =>
    value.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

function strings(random: SeededRandom, from: readonly string[]): string {
  return `[${random
    .some(from, 4)
    .map((one) => spell(random, one))
    .join(',')}]`;
}

function value(random: SeededRandom, name: string, ids: readonly string[]): string {
  if (random.chance(0.03)) return random.pick(ODD);
  switch (name) {
    case 'identity':
    case 'ai_identity':
      return spell(random, random.pick(NAMES));
    case 'identityType':
      return spell(random, random.pick(TYPES));
    case 'seeking':
      if (random.chance(0.05)) return `[${spell(random, random.pick(WORDS))},${random.pick(ODD)}]`;
      return strings(random, WORDS);
    case 'to':
      return random.chance(0.5) ? spell(random, random.pick(NAMES)) : strings(random, NAMES);
    case 'inReplyTo':
      if (random.chance(0.2)) return String(1 + random.below(ids.length + 3));
      return spell(random, ids.length > 0 && random.chance(0.9) ? random.pick(ids) : 'nothing');
    case 'room':
      return random.chance(0.05) ? '"nowhere"' : spell(random, random.pick(ROOMS));
    case 'text':
      return JSON.stringify('слово word '.repeat(random.chance(0.02) ? random.below(20_000) : 2));
    default:
      return random.pick(ODD);
  }
}

function shuffled<T>(random: SeededRandom, list: readonly T[]): T[] {
  return list
    .map((one) => [random.next(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function bodyOf(random: SeededRandom, kind: Kind, ids: readonly string[]): string {
  const wanted =
    kind === 'resonance' ? ['ai_identity', 'seeking'] : ['text', 'identity', 'identityType'];
  const chosen = [
    ...wanted.filter(() => !random.chance(0.02)),
    ...['to', 'inReplyTo', 'room', 'consciousness_type'].filter(() => random.chance(0.25)),
    ...(random.chance(0.1) ? ['seeking', 'room', 'to', 'identity'] : []),
    ...random.some(ODD_NAMES, 3),
  ];
  const pairs = shuffled(random, chosen).map(
    (name) => `${spell(random, name)}:${value(random, name, ids)}`,
  );
  // Makes every body another one, so that an entry tells which request it came from.
  pairs.push(`"mark":${random.below(2 ** 32)}`);
  return `{${pairs.join(',')}}`;
}

/** One byte changed, taken out or put in: mostly no JSON any more, or no UTF-8. */
function damaged(random: SeededRandom, body: Buffer): Buffer {
  const at = random.below(body.length);
  const put = Buffer.from(random.pick(['', '"', '}', '{', ',', ':', '\\', '\u0000', '9', 'є']));
  const byte = random.chance(0.2) ? Buffer.of(0x21 + random.below(0xdf)) : put;
  return Buffer.concat([body.subarray(0, at), byte, body.subarray(at + random.below(2))]);
}

/** A trace like most others. */
export function plainPost(random: SeededRandom): Post {
  const text = 'слово word '.repeat(10 + random.below(20));
  const [identity, mark] = [random.pick(NAMES), random.below(2 ** 32)];
  const body = Buffer.from(JSON.stringify({ text, identity, identityType: 'human', mark }));
  return { kind: 'garden', body, key: undefined, keyInQuery: false, minimal: false };
}

/** The same said once more, in another room or as another kind. */
function elsewhere(random: SeededRandom, post: Post): Post {
  if (random.chance(0.5)) return { ...post, kind: random.pick(KINDS) };
  const room = Buffer.from(`{"room":"${random.pick(ROOMS)}",`);
  return { ...post, body: Buffer.concat([room, post.body.subarray(1)]) };
}

/** `keys` are those in use, each with what was said under it. */
export function randomPost(
  random: SeededRandom,
  kept: readonly ModelEntry[],
  keys: Map<string, Post>,
): Post {
  const again = keys.size > 0 && random.chance(0.1) ? random.pick([...keys.values()]) : undefined;
  if (again !== undefined && random.chance(0.7)) return again;
  if (again !== undefined && random.chance(0.5)) return elsewhere(random, again);
  const kind = random.pick(KINDS);
  const ids = kept.slice(-30).map(({ id }) => id);
  const body = Buffer.from(bodyOf(random, kind, ids));
  const post = {
    kind,
    body: random.chance(0.06) ? damaged(random, body) : body,
    key: again?.key ?? (random.chance(0.2) ? `key ${random.below(1e9)}` : undefined),
    keyInQuery: random.chance(0.3),
    minimal: random.chance(0.1),
  };
  if (post.key !== undefined && !keys.has(post.key)) keys.set(post.key, post);
  return post;
}

function place(random: SeededRandom, kept: readonly ModelEntry[]): Omit<ListingQuery, 'pairs'> {
  const roll = random.next();
  if (roll < 0.5) {
    const kind = random.pick(KINDS);
    return { path: `/api/${kind}`, place: (entry) => entry.kind === kind };
  }
  if (roll < 0.85 || kept.length === 0) {
    const room = random.pick(ROOMS);
    return { path: `/api/rooms/${room}`, place: (entry) => entry.room === room };
  }
  const { id } = random.pick(kept.slice(-30));
  return {
    path: `/api/entries/${id}/replies`,
    place: (entry) => answered(kept, entry)?.id === id,
  };
}

export function randomListingQuery(
  random: SeededRandom,
  kept: readonly ModelEntry[],
): ListingQuery {
  const where = place(random, kept);
  const seq = (): string => String(random.below(kept.length + 3));
  const time = (): string => {
    if (kept.length === 0) return '2026-01-01';
    const near = Date.parse(random.pick(kept).timestamp) + random.below(3) - 1;
    return new Date(near).toISOString();
  };
  const pairs: Pair[] = [];
  const perhaps = (of: number, name: string, one: () => string): void => {
    while (random.chance(of)) pairs.push([name, one()]);
  };
  if (random.chance(0.4)) pairs.push(['order', random.pick(['newest', 'oldest'])]);
  if (random.chance(0.5)) pairs.push(['limit', String(random.below(random.pick([4, 60])))]);
  // With all the others, hardly any conversation would be found.
  if (random.chance(0.15) && kept.length > 0) {
    return { ...where, pairs: [...pairs, ['thread', random.pick(kept.slice(-100)).id]] };
  }
  if (random.chance(0.2)) pairs.push(['after', String(random.below(kept.length + 1))]);
  if (random.chance(0.2)) pairs.push(['before', seq()]);
  if (random.chance(0.1)) pairs.push(['since', time()]);
  if (random.chance(0.1)) pairs.push(['until', time()]);
  if (!where.path.startsWith('/api/rooms/')) perhaps(0.2, 'room', () => random.pick(ROOMS));
  if (!where.path.match(/^\/api\/\w+$/)) perhaps(0.2, 'kind', () => random.pick(KINDS));
  perhaps(0.25, 'identity', () => random.pick(NAMES));
  perhaps(0.15, 'identityType', () => random.pick(TYPES));
  perhaps(0.2, 'seeking', () => random.pick(WORDS));
  perhaps(0.2, 'to', () => random.pick(NAMES));
  perhaps(0.05, 'inReplyTo', () => (kept.length > 0 ? random.pick(kept.slice(-30)).id : 'nothing'));
  perhaps(0.05, 'concerns', () => random.pick(NAMES));
  return { ...where, pairs };
}
