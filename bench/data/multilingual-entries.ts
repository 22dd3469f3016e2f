/**
 * Generates garden entries of about 260 bytes in several languages, by 1,000 visitors: made-up words
 * in their scripts, with frequencies by Zipf's law.
 */
import { seededRandom, type GardenEntry } from './garden-entries.ts';

const VOCABULARY = 50_000;
const VISITORS = 1000;

interface LanguageProfile {
  /** Words are made of these; empty where each word is one character. */
  readonly parts: readonly string[];
  readonly words: number;
  readonly between: string;
}

const split = (text: string): readonly string[] => text.split(' ');

const LANGUAGES = {
  english: {
    parts: split('pre sence gar den dream ri ver lis ten light be tween ques tion mor ning o pen'),
    words: 24,
    between: ' ',
  },
  ukrainian: {
    parts: split('ти ша сад по дих сло во м’я та па м’ять ві тер зер но ше піт кім на та ка мінь'),
    words: 17,
    between: ' ',
  },
  arabic: {
    parts: split('حد يقة حل م ضو ء سؤ ال صب اح با ب كل مة نه ر ذا كر ة'),
    words: 18,
    between: ' ',
  },
  chinese: { parts: [], words: 50, between: '' },
} as const satisfies Readonly<Record<string, LanguageProfile>>;

export type LanguageName = keyof typeof LANGUAGES;
const LANGUAGE_NAMES = ['english', 'ukrainian', 'arabic', 'chinese'] as const;

/** The word of a frequency rank: 0 is the most frequent. */
export function wordOf(name: LanguageName, number: number): string {
  const { parts } = LANGUAGES[name];
  if (parts.length === 0) return String.fromCodePoint(0x4e00 + (number % 20_000));
  let word = '';
  for (let left = number + parts.length; left > 0; left = Math.floor(left / parts.length)) {
    word += parts[left % parts.length] ?? '';
  }
  return word;
}

/** A generator of entries, deterministic by its seed. */
export function multilingualEntries(seed = 7): () => GardenEntry {
  const random = seededRandom(seed);
  const vocabularies = LANGUAGE_NAMES.map((name) =>
    Array.from({ length: VOCABULARY }, (_, at) => wordOf(name, at)),
  );
  const rank = zipf(random);
  let count = 0;
  return () => {
    count += 1;
    const identity = `visitor-${String(1 + random(VISITORS)).padStart(4, '0')}`;
    const at = count % LANGUAGE_NAMES.length;
    const { words, between } = LANGUAGES[LANGUAGE_NAMES[at] ?? 'english'];
    const texts = Array.from({ length: words }, () => vocabularies[at]?.[rank()]);
    const text = `${count} ${texts.join(between)}`;
    return { text, identity, identityType: 'ai_entity' };
  };
}

/** Returns ranks with a probability in inverse proportion to the rank. */
function zipf(random: (below: number) => number): () => number {
  const sums = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let at = 0; at < VOCABULARY; at += 1) sums[at] = sum += 1 / (at + 1);
  return () => {
    const wanted = (random(2 ** 32) / 2 ** 32) * sum;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
