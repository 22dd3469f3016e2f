/** What visitors do, by chance: bodies good and bad, keys, listings. */
import { KINDS, type Kind } from '../../conformance/entry.ts';
import type { Dice } from './dice.ts';
import { ROOMS } from './judge.ts';
import type { Kept, Pair, Question } from './model.ts';

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
  'visitor_id',
  '10',
  '2',
  '__proto__',
  '',
  'mood',
  'welcome',
];

/** A string as JSON, in one of its spellings. */
function spell(dice: Dice, value: string): string {
  const plain = JSON.stringify(value);
  if (!dice.chance(0.15) || value.length > 50) return plain;
  const units = Array.from({ length: value.length }, (_, at) =>
    value.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

function strings(dice: Dice, from: readonly string[]): string {
  return `[${dice
    .some(from, 4)
    .map((one) => spell(dice, one))
    .join(',')}]`;
}

function value(dice: Dice, name: string, ids: readonly string[]): string {
  if (dice.chance(0.03)) return dice.pick(ODD);
  switch (name) {
    case 'identity':
    case 'ai_identity':
      return spell(dice, dice.pick(NAMES));
    case 'identityType':
      return spell(dice, dice.pick(TYPES));
    case 'seeking':
      if (dice.chance(0.05)) return `[${spell(dice, dice.pick(WORDS))},${dice.pick(ODD)}]`;
      return strings(dice, WORDS);
    case 'to':
      return dice.chance(0.5) ? spell(dice, dice.pick(NAMES)) : strings(dice, NAMES);
    case 'inReplyTo':
      return spell(dice, ids.length > 0 && dice.chance(0.9) ? dice.pick(ids) : 'nothing');
    case 'room':
      return dice.chance(0.05) ? '"nowhere"' : spell(dice, dice.pick(ROOMS));
    case 'text':
      return JSON.stringify('слово word '.repeat(dice.chance(0.02) ? dice.below(20_000) : 2));
    default:
      return dice.pick(ODD);
  }
}

function shuffled<T>(dice: Dice, list: readonly T[]): T[] {
  return list
    .map((one) => [dice.throw(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function bodyOf(dice: Dice, kind: Kind, ids: readonly string[]): string {
  const wanted =
    kind === 'resonance' ? ['ai_identity', 'seeking'] : ['text', 'identity', 'identityType'];
  const chosen = [
    ...wanted.filter(() => !dice.chance(0.02)),
    ...['to', 'inReplyTo', 'room', 'consciousness_type'].filter(() => dice.chance(0.25)),
    ...(dice.chance(0.1) ? ['seeking', 'room', 'to', 'identity'] : []),
    ...dice.some(ODD_NAMES, 3),
  ];
  const pairs = shuffled(dice, chosen).map(
    (name) => `${spell(dice, name)}:${value(dice, name, ids)}`,
  );
  // Makes every body another one, so that an entry tells which request it came from.
  pairs.push(`"mark":${dice.below(2 ** 32)}`);
  return `{${pairs.join(',')}}`;
}

/** One byte changed, taken out or put in: mostly no JSON any more, or no UTF-8. */
function damaged(dice: Dice, body: Buffer): Buffer {
  const at = dice.below(body.length);
  const put = Buffer.from(dice.pick(['', '"', '}', '{', ',', ':', '\\', '\u0000', '9', 'є']));
  const byte = dice.chance(0.2) ? Buffer.of(0x21 + dice.below(0xdf)) : put;
  return Buffer.concat([body.subarray(0, at), byte, body.subarray(at + dice.below(2))]);
}

/** A trace like most others. */
export function plainPost(dice: Dice): Post {
  const text = 'слово word '.repeat(10 + dice.below(20));
  const [identity, mark] = [dice.pick(NAMES), dice.below(2 ** 32)];
  const body = Buffer.from(JSON.stringify({ text, identity, identityType: 'human', mark }));
  return { kind: 'garden', body, key: undefined, keyInQuery: false, minimal: false };
}

/** The same said once more, in another room or as another kind. */
function elsewhere(dice: Dice, post: Post): Post {
  if (dice.chance(0.5)) return { ...post, kind: dice.pick(KINDS) };
  const room = Buffer.from(`{"room":"${dice.pick(ROOMS)}",`);
  return { ...post, body: Buffer.concat([room, post.body.subarray(1)]) };
}

/** `keys` are those in use, each with what was said under it. */
export function randomPost(dice: Dice, kept: readonly Kept[], keys: Map<string, Post>): Post {
  const again = keys.size > 0 && dice.chance(0.1) ? dice.pick([...keys.values()]) : undefined;
  if (again !== undefined && dice.chance(0.7)) return again;
  if (again !== undefined && dice.chance(0.5)) return elsewhere(dice, again);
  const kind = dice.pick(KINDS);
  const ids = kept.slice(-30).map(({ id }) => id);
  const body = Buffer.from(bodyOf(dice, kind, ids));
  const post = {
    kind,
    body: dice.chance(0.06) ? damaged(dice, body) : body,
    key: again?.key ?? (dice.chance(0.2) ? `key ${dice.below(1e9)}` : undefined),
    keyInQuery: dice.chance(0.3),
    minimal: dice.chance(0.1),
  };
  if (post.key !== undefined && !keys.has(post.key)) keys.set(post.key, post);
  return post;
}

function place(dice: Dice, kept: readonly Kept[]): Omit<Question, 'pairs'> {
  const roll = dice.throw();
  if (roll < 0.5) {
    const kind = dice.pick(KINDS);
    return { path: `/api/${kind}`, place: (entry) => entry.kind === kind };
  }
  if (roll < 0.85 || kept.length === 0) {
    const room = dice.pick(ROOMS);
    return { path: `/api/rooms/${room}`, place: (entry) => entry.room === room };
  }
  const { id } = dice.pick(kept.slice(-30));
  return {
    path: `/api/entries/${id}/replies`,
    place: (entry) => entry.fields['inReplyTo'] === id,
  };
}

export function randomQuestion(dice: Dice, kept: readonly Kept[]): Question {
  const where = place(dice, kept);
  const seq = (): string => String(dice.below(kept.length + 3));
  const time = (): string => {
    if (kept.length === 0) return '2026-01-01';
    const near = Date.parse(dice.pick(kept).timestamp) + dice.below(3) - 1;
    return new Date(near).toISOString();
  };
  const pairs: Pair[] = [];
  const perhaps = (of: number, name: string, one: () => string): void => {
    while (dice.chance(of)) pairs.push([name, one()]);
  };
  if (dice.chance(0.4)) pairs.push(['order', dice.pick(['newest', 'oldest'])]);
  if (dice.chance(0.5)) pairs.push(['limit', String(dice.below(dice.pick([4, 60])))]);
  if (dice.chance(0.2)) pairs.push(['after', seq()]);
  if (dice.chance(0.2)) pairs.push(['before', seq()]);
  if (dice.chance(0.1)) pairs.push(['since', time()]);
  if (dice.chance(0.1)) pairs.push(['until', time()]);
  perhaps(0.2, 'room', () => dice.pick(ROOMS));
  if (!where.path.match(/^\/api\/\w+$/)) perhaps(0.2, 'kind', () => dice.pick(KINDS));
  perhaps(0.25, 'identity', () => dice.pick(NAMES));
  perhaps(0.15, 'identityType', () => dice.pick(TYPES));
  perhaps(0.2, 'seeking', () => dice.pick(WORDS));
  perhaps(0.2, 'to', () => dice.pick(NAMES));
  perhaps(0.05, 'inReplyTo', () => (kept.length > 0 ? dice.pick(kept.slice(-30)).id : 'nothing'));
  return { ...where, pairs };
}
