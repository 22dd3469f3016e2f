/**
 * What a word is, alike in what visitors said and in what is looked for.
 *
 * Letters and digits that stand together are a word, in lower case. Marks that may be left out are
 * left out: accents of Latin and Greek letters, stress marks, the vowel points of Arabic and Hebrew;
 * й, ї and ґ are letters of their own. An apostrophe within a Cyrillic word is no part of it, however
 * it is spelled or forgotten (м'ята, мʼята, мята); elsewhere it divides words. Where writing has no
 * spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each letter with its marks is a word, and so
 * is each symbol that is not ASCII: 🌱.
 */

/** Of longer words, only so much counts. */
export const MAX_WORD_LENGTH = 256;

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{N}]]`;
const SYMBOL = String.raw`[\p{S}--[\0-\x7f]--\p{Sk}]`;
const SPACED = String.raw`[[\p{L}\p{N}\p{M}]--${UNSPACED}]`;
const WORD = new RegExp(String.raw`${UNSPACED}\p{M}*|${SYMBOL}|${SPACED}+`, 'gv');

/** What may hold words, piece by piece, in a text as it was spelled. */
export const WORD_CANDIDATE: RegExp = new RegExp(
  String.raw`${UNSPACED}\p{M}*|${SYMBOL}|[${SPACED}\p{Cf}'’ʼ‘‛´＇\`ʹ]+`,
  'gv',
);

const APOSTROPHES = /[’ʼ‘‛´＇`ʹ]/g;
const WITHIN_CYRILLIC = /(?<=\p{sc=Cyrl}\p{M}?)'(?=\p{sc=Cyrl})/gu;
/** Marks over and under letters, points of Hebrew and Arabic, what joins without being seen. */
const LEFT_OUT =
  /[[\p{Cf}--\u200b]\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\p{VS}]/gv;
const ACCENTED = /[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]/g;
/** Letters that have one spelling more than they have sounds, and Latin ones that cannot be taken apart. */
const ALIKE: Readonly<Record<string, string>> = {
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
const SPELLED_TWICE = /[آأإٱىة]/g;

/** Regular expressions take a stack for what they match: longer texts are divided first. */
export const MAX_CHUNK_LENGTH = 16 * 1024;

/** The words of a text, in its order. */
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
    : (plain(text).match(WORD) ?? []);
  for (const [at, word] of words.entries()) {
    if (word.length > MAX_WORD_LENGTH) words[at] = word.slice(0, MAX_WORD_LENGTH).toWellFormed();
  }
  return words;
}

/** The text with everything left out by which spellings of one word differ. */
function plain(text: string): string {
  return text
    .replace(APOSTROPHES, "'")
    .normalize('NFKC')
    .toLowerCase()
    .replace(ACCENTED, unaccented)
    .replace(SPELLED_TWICE, (letter) => ALIKE[letter] ?? letter)
    .replace(LEFT_OUT, '')
    .replace(WITHIN_CYRILLIC, '');
}

function unaccented(letter: string): string {
  return ALIKE[letter] ?? ALIKE[letter.normalize('NFD').charAt(0)] ?? letter.normalize('NFD');
}

/** A text that comes in pieces: the words of the whole are told once, however it is cut. */
export class StreamTokenizer {
  readonly #tell: (words: readonly string[]) => void;
  #rest = '';

  constructor(tell: (words: readonly string[]) => void) {
    this.#tell = tell;
  }

  /** Takes more of the text, some 16 Ki characters at most. */
  push(piece: string): void {
    const text = this.#rest === '' ? piece : this.#rest + piece;
    const long = text.length > LONGEST_REST;
    const cut = lastDivide(text, DIVIDE) || (long ? lastDivide(text, LESS_SURE) : 0);
    // Of a word that does not end, as much is kept as counts, and its end is awaited.
    this.#rest = cut === 0 && long ? text.slice(0, LONGEST_REST) : text.slice(cut);
    if (cut > 0) this.#tell(wordsIn(text.slice(0, cut)));
  }

  end(): void {
    if (this.#rest !== '') this.#tell(wordsIn(this.#rest));
    this.#rest = '';
  }
}

/** Spelled out, it may be longer than what it is folded to. */
const LONGEST_REST = 16 * MAX_WORD_LENGTH;
/** Before what a text can be cut: what is no part of a word, or one by itself whatever came before. */
const DIVIDE = new RegExp(
  String.raw`[[\p{sc=Han}&&\p{L}]${SYMBOL}[^\p{L}\p{N}\p{M}\p{S}\p{Cf}\p{Cs}'’ʼ‘‛´＇\`ʹ]]`,
  'v',
);
/** Where nothing else divides a long text: what was written before may change what this is. */
const LESS_SURE = new RegExp(UNSPACED, 'v');

/** The last place before which everything is whole, 0 if there is none. */
function lastDivide(text: string, divide: RegExp): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    const code = text.charCodeAt(at);
    if (code >= 0xdc00 && code <= 0xdfff) continue;
    if (divide.test(String.fromCodePoint(text.codePointAt(at) ?? 0))) return at;
  }
  return 0;
}
