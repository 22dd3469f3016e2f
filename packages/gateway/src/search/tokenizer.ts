/**
 * Divides texts into words, in the same way for entries and for queries.
 *
 * A word is a run of letters and digits, in lower case. Optional marks are removed: accents of Latin
 * and Greek letters, stress marks, the vowel points of Arabic and Hebrew; й, ї and ґ are letters of
 * their own. An apostrophe within a Cyrillic word is removed, so that all spellings are the same word
 * (м'ята, мʼята, мята); elsewhere it divides words. In scripts without spaces (Chinese, Japanese,
 * Thai, Lao, Khmer, Burmese), and in Korean, which joins particles to words, each letter with its marks
 * is a word. So is each symbol that is not ASCII (🌱) and each number that is not a digit (½). Those that
 * stand for letters or digits are searched as these, but apart from the words around them: №57 as no
 * and 57.
 */

/** Longer words are cut to this length. */
export const MAX_WORD_LENGTH = 256;

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Hang}]&&[\p{L}\p{N}]]`;
const SYMBOL = String.raw`[[\p{S}\p{No}]--[\0-\x7f]--\p{Sk}]`;
const SPACED = String.raw`[[\p{L}\p{N}\p{M}]--${UNSPACED}--${SYMBOL}]`;
const WORD = new RegExp(String.raw`${UNSPACED}\p{M}*|${SYMBOL}|${SPACED}+`, 'gv');

/** The parts of an original text that may contain words. */
export const WORD_CANDIDATE: RegExp = new RegExp(
  String.raw`${UNSPACED}\p{M}*|${SYMBOL}\p{M}*|[${SPACED}\p{Cf}'’ʼ‘‛´＇\`ʹ]+`,
  'gv',
);

/** With the marks that may be part of it: ∈ and a slash are the same as ∉. */
const MARKED_SYMBOL = new RegExp(String.raw`${SYMBOL}\p{M}*`, 'gv');
const APOSTROPHES = /[’ʼ‘‛´＇`ʹ]/g;
const WITHIN_CYRILLIC = /(?<=\p{sc=Cyrl}\p{M}?)'(?=\p{sc=Cyrl})/gu;
/** Combining marks, points of Hebrew and Arabic, and invisible joiners. */
const REMOVED =
  /[[\p{Cf}--\u200b]\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\p{VS}]/gv;
const ACCENTED = /[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]/g;
/** Variants of the same letter, and Latin letters that Unicode does not decompose. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  آ: 'ا',
  أ: 'ا',
  إ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ة: 'ه',
};
const FOLDED_ARABIC = /[آأإٱىة]/g;

/** Regular expressions need stack for what they match, so longer texts are cut first. */
export const MAX_CHUNK_LENGTH = 16 * 1024;

export function tokenize(text: string): string[] {
  if (text.length <= MAX_CHUNK_LENGTH) return wordsIn(text);
  const words: string[] = [];
  const stream = new StreamTokenizer((more) => {
    for (const word of more) words.push(word);
  });
  for (let at = 0; at < text.length; at += MAX_CHUNK_LENGTH)
    stream.push(text.slice(at, at + MAX_CHUNK_LENGTH));
  stream.end();
  return words;
}

function wordsIn(text: string): string[] {
  const words: string[] = ASCII.test(text)
    ? (text.toLowerCase().match(ASCII_WORD) ?? [])
    : (normalize(text).match(WORD) ?? []);
  for (const [at, word] of words.entries()) {
    if (word.length > MAX_WORD_LENGTH) words[at] = word.slice(0, MAX_WORD_LENGTH).toWellFormed();
  }
  return words;
}

/** Removes everything by which spellings of the same word differ. */
function normalize(text: string): string {
  return (
    text
      .replace(APOSTROPHES, "'")
      // Before NFKC, which makes letters of some.
      .replace(MARKED_SYMBOL, ' $& ')
      .normalize('NFKC')
      .toLowerCase()
      .replace(ACCENTED, unaccented)
      .replace(FOLDED_ARABIC, (letter) => FOLDED[letter] ?? letter)
      .replace(REMOVED, '')
      .replace(WITHIN_CYRILLIC, '')
  );
}

function unaccented(letter: string): string {
  return FOLDED[letter] ?? FOLDED[letter.normalize('NFD').charAt(0)] ?? letter.normalize('NFD');
}

/** The same words for a text that comes in pieces, however it is cut. */
export class StreamTokenizer {
  readonly #onWords: (words: readonly string[]) => void;
  #rest = '';

  constructor(onWords: (words: readonly string[]) => void) {
    this.#onWords = onWords;
  }

  /** Adds more of the text: about `MAX_CHUNK_LENGTH` characters at most. */
  push(piece: string): void {
    const text = this.#rest === '' ? piece : this.#rest + piece;
    const isLong = text.length > MAX_REST;
    const cut = lastBoundary(text, BOUNDARY) || (isLong ? lastBoundary(text, WEAK_BOUNDARY) : 0);
    // Of an endless word only the start is held.
    this.#rest = cut === 0 && isLong ? text.slice(0, MAX_REST) : text.slice(cut);
    if (cut > 0) this.#onWords(wordsIn(text.slice(0, cut)));
  }

  end(): void {
    if (this.#rest !== '') this.#onWords(wordsIn(this.#rest));
    this.#rest = '';
  }
}

/** A word may be longer before normalization. */
const MAX_REST = 16 * MAX_WORD_LENGTH;
/** A text can be cut before these: they are in no word, or a word whatever stands before them. */
const BOUNDARY = new RegExp(
  String.raw`[[\p{sc=Han}&&\p{L}]${SYMBOL}[^\p{L}\p{N}\p{M}\p{S}\p{Cf}\p{Cs}'’ʼ‘‛´＇\`ʹ]]`,
  'v',
);
/** Where a long text is cut if it has no boundary. What stands before may change these words. */
const WEAK_BOUNDARY = new RegExp(UNSPACED, 'v');

/** The last position before which all words are complete, or 0. */
function lastBoundary(text: string, boundary: RegExp): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    const code = text.charCodeAt(at);
    // No boundary is a letter of ASCII: a word of a megabyte would take its length in matches.
    if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) continue;
    if (code >= 0xdc00 && code <= 0xdfff) continue;
    if (boundary.test(String.fromCodePoint(text.codePointAt(at) ?? 0))) return at;
  }
  return 0;
}
