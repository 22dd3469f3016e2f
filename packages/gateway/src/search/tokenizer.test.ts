import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { MAX_WORD_LENGTH, tokenize, StreamTokenizer } from './tokenizer.ts';

/** Texts whose words shall be the same. */
const ALIKE: Readonly<Record<string, readonly string[]>> = {
  'an apostrophe within a Cyrillic word': [
    "м'ята",
    'м’ята',
    'мʼята',
    'м‘ята',
    'м`ята',
    'МʼЯТА',
    'мята',
  ],
  'a stress mark': ['замок', 'за\u0301мок'],
  'й and ї in one character or in two': ['її край', 'і\u0308і\u0308 краи\u0306'],
  'accents of Latin letters': ['café Łódź', 'cafe\u0301 lodz', 'CAFE LODZ'],
  'accents and final letters of Greek': ['λόγος', 'ΛΟΓΟΣ', 'λογος'],
  'vowel points and spellings of Arabic': ['مُحَمَّد أحمد', 'محمد احمد', 'مـحـمـد أَحْمَد'],
  'points of Hebrew': ['שָׁלוֹם', 'שלום'],
  'full width': ['ＧＡＲＤＥＮ １２', 'garden 12'],
  'a slash through a symbol': ['x∈\u0338y', 'x∉y'],
  'a soft hyphen': ['gar\u00adden', 'garden'],
  'colours of an emoji': ['👋🏽 ❤️', '👋 ❤'],
};

const APART: readonly (readonly [string, string])[] = [
  ['мій', 'міи'],
  ['їжа', 'іжа'],
  ['ґрати', 'грати'],
  ['ёлка', 'елка'],
];

const WORDS: Readonly<Record<string, readonly string[]>> = {
  'Lumen’s well-being, 3.14': ['lumen', 's', 'well', 'being', '3', '14'],
  漢字とカタカナー: ['漢', '字', 'と', 'カ', 'タ', 'カ', 'ナ', 'ー'],
  'ภาษาไทย ดี': ['ภ', 'า', 'ษ', 'า', 'ไ', 'ท', 'ย', 'ดี'],
  'привіт🌱світ 🇺🇦': ['привіт', '🌱', 'світ', '🇺', '🇦'],
  'हिन्दी 한국어 €5': ['हिन्दी', '한', '국', '어', '€', '5'],
  검색은: ['검', '색', '은'],
  'наказ №57, Acmeco™': ['наказ', 'no', '57', 'acmeco', 'tm'],
  'squared² ½cupful': ['squared', '2', '1', '⁄', '2', 'cupful'],
  '①uno ㎏77 25℃': ['1', 'uno', 'kg', '77', '25', '°', 'c'],
  '!!! — … ': [],
};

/** All symbols and numbers that are words of their own. */
const SYMBOLS = Array.from({ length: 0x110000 - 0x80 }, (_, at) =>
  String.fromCodePoint(at + 0x80),
).filter((character) => /[[\p{S}\p{No}]--\p{Sk}]/v.test(character));

describe('words', () => {
  for (const [what, texts] of Object.entries(ALIKE)) {
    it(`are the same but for ${what}`, () => {
      const [first = '', ...others] = texts;
      for (const other of others) assert.deepEqual(tokenize(other), tokenize(first), other);
    });
  }
  for (const [one, other] of APART) {
    it(`are not the same: ${one} and ${other}`, () => {
      assert.notDeepEqual(tokenize(one), tokenize(other));
    });
  }
  for (const [text, words] of Object.entries(WORDS)) {
    it(`of ${JSON.stringify(text)} are ${words.length}`, () => {
      assert.deepEqual(tokenize(text), words);
    });
  }

  it('are the same beside each symbol', () => {
    for (const symbol of SYMBOLS) {
      const words = tokenize(`before${symbol}behind`);
      assert.deepEqual([words[0], words.at(-1)], ['before', 'behind'], symbol);
    }
  });

  it('count as far as they are 256 characters long', () => {
    assert.deepEqual(tokenize('a'.repeat(100_000)), ['a'.repeat(MAX_WORD_LENGTH)]);
  });

  it('of a text are the same however it is cut', () => {
    const letters = "ab1 .’'й\u0306їУ漢の ภำ👩\u200d🚀🏽🇺🇦é\u0301مُ-=∈\u0338™№℃½²①㎏㉠ㅏ＋";
    const letter = fc.oneof(
      fc.constantFrom(...Array.from(letters), '\ud83d'),
      fc.constantFrom(...SYMBOLS),
    );
    const texts = fc.array(fc.string({ unit: letter, maxLength: 12 }));
    fc.assert(
      fc.property(texts, (pieces) => {
        const words: string[] = [];
        const stream = new StreamTokenizer((more) => void words.push(...more));
        for (const piece of pieces) stream.push(piece);
        stream.end();
        assert.deepEqual(words, tokenize(pieces.join('')));
      }),
    );
  });
});

describe('a word that does not end', () => {
  it('is one, as far as it counts, and those around it are themselves', () => {
    const words: string[] = [];
    const stream = new StreamTokenizer((more) => void words.push(...more));
    stream.push('before ');
    for (let pieces = 0; pieces < 100; pieces += 1) stream.push('b'.repeat(1000));
    stream.push('bb behind');
    stream.end();
    assert.deepEqual(words, ['before', 'b'.repeat(MAX_WORD_LENGTH), 'behind']);
  });
});
