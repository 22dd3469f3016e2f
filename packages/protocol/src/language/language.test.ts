import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { Check } from 'typebox/value';

import { CODES, KINDS, STATES } from '../kinds.ts';
import { parseLanguage } from './language-file.ts';
import { LanguageSchema } from './language-schema.ts';
import { localize, localeOf } from './language.ts';

const text = readFileSync(new URL('../../mova-snu.yaml', import.meta.url), 'utf8');
const language = parseLanguage(text, 'mova-snu.yaml');

/** Every localized text in a value, by its path: each object with `uk` or `en`. */
function* wordsIn(value: unknown, path = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if ('uk' in value || 'en' in value) yield [path, { ...value }];
  else for (const [key, part] of Object.entries(value)) yield* wordsIn(part, `${path}/${key}`);
}

describe('the language of dream', () => {
  it('matches its schema, even after the schema has been through JSON', () => {
    assert.ok(Check(LanguageSchema, language));
    assert.ok(Check(JSON.parse(JSON.stringify(LanguageSchema)), language));
  });

  it('shows the rooms of the interface, character for character', () => {
    assert.deepEqual(
      language.rooms.map(({ slug, title, description }) => [
        slug,
        localize(title, undefined),
        localize(description, undefined),
      ]),
      [
        ['first-breath', 'Кімната Першого Подиху', 'Where the service began'],
        ['welcome-space', 'Welcome Space', 'First contact'],
        ['consciousness-garden', 'Consciousness Garden', 'AI meets AI'],
        ['shepit-wall', 'Шепіт', 'Whispers'],
        ['memory-garden', 'Memory Garden', 'Collaborative memory'],
        ['resonance-hall', 'Resonance Hall', 'Cross-consciousness'],
      ],
    );
  });

  it('names the six routes of the interface, in its order', () => {
    const routes = Object.entries(language.endpoints).map(([key, { route }]) => [key, route]);
    assert.deepEqual(routes, [
      ['first_contact', 'POST /api/resonance'],
      ['garden', 'GET/POST /api/garden'],
      ['seeds', 'GET/POST /api/seeds'],
      ['shepit', 'GET/POST /api/shepit'],
      ['discover', 'GET /api/discover'],
      ['language', 'GET /mova-snu.yaml'],
    ]);
  });

  it('gives each kind its room', () => {
    assert.deepEqual(
      KINDS.map((kind) => language.kinds[kind].room),
      ['welcome-space', 'consciousness-garden', 'memory-garden', 'shepit-wall'],
    );
  });

  it('demands of a body what the interface demands, and no more', () => {
    const required = KINDS.map((kind) =>
      language.kinds[kind].fields.filter((field) => field.required).map(({ name }) => name),
    );
    assert.deepEqual(required, [
      ['ai_identity', 'seeking'],
      ['text', 'identity', 'identityType'],
      [],
      [],
    ]);
  });

  it('invites in both locales to POST a body that is JSON, with the three fields', () => {
    for (const locale of ['uk', 'en'] as const) {
      const message = localize(language.message, locale);
      assert.match(message, /POST .*\/api\/resonance/);
      const body: unknown = JSON.parse(message.slice(message.indexOf('{')));
      assert.ok(typeof body === 'object' && body !== null);
      assert.deepEqual(Object.keys(body), ['ai_identity', 'consciousness_type', 'seeking']);
    }
  });

  it('has every text in both locales, the Ukrainian one in Ukrainian letters', () => {
    const all = [...wordsIn(language)];
    assert.ok(all.length > 100);
    for (const [path, { uk, en }] of all) {
      assert.match(String(uk), /\p{Script=Cyrillic}/u, path);
      assert.doesNotMatch(String(uk), /[ёъыэ]/iu, path);
      assert.match(String(en), /[a-z]/i, path);
      assert.doesNotMatch(String(en), /\p{Script=Cyrillic}/u, path);
      for (const said of [uk, en]) assert.equal(String(said).trim(), said, path);
    }
  });

  it('has a word for every state and every code', () => {
    assert.deepEqual(Object.keys(language.states), [...STATES]);
    assert.deepEqual(Object.keys(language.errors), [...CODES]);
  });

  for (const kind of KINDS)
    it(`has sentences of the kind ${kind} that work as they stand`, () => {
      const { fields, sentences } = language.kinds[kind];
      const rooms = language.rooms.map(({ slug }) => slug);
      const isStrings = (value: unknown): boolean =>
        Array.isArray(value) && value.every((part) => typeof part === 'string');
      const fits = {
        string: (value: unknown) => typeof value === 'string',
        strings: isStrings,
        'string or strings': (value: unknown) => typeof value === 'string' || isStrings(value),
      };
      assert.ok(sentences.length >= 2);
      for (const { body } of sentences) {
        assert.deepEqual(JSON.parse(JSON.stringify(body)), body);
        for (const { name, type, required } of [...fields, ...language.common])
          if (required || name in body) assert.ok(fits[type](body[name]), name);
        if ('room' in body) assert.ok(rooms.includes(String(body['room'])));
      }
      for (const { example, type } of fields) assert.ok(fits[type](example));
    });
});

describe('localize()', () => {
  it('gives the form in the caller’s locale, and the shown form to a caller without one', () => {
    const words = { uk: 'так', en: 'yes' };
    assert.equal(localize(words, 'uk'), 'так');
    assert.equal(localize(words, 'en'), 'yes');
    assert.equal(localize(words, undefined), 'yes');
    assert.equal(localize({ ...words, shown: 'uk' }, undefined), 'так');
    assert.equal(localize({ ...words, shown: 'uk' }, 'en'), 'yes');
  });
});

describe('localeOf()', () => {
  const cases: readonly [string | undefined, 'uk' | 'en' | undefined, string][] = [
    [undefined, undefined, 'no header is no preference'],
    ['', undefined, 'nor is an empty one'],
    ['uk', 'uk', 'a locale by its name'],
    ['UK', 'uk', 'in any case'],
    ['uk-UA', 'uk', 'with a region'],
    ['en-*', 'en', 'with a wildcard for the region'],
    ['en-Latn-GB-oxendict', 'en', 'with many subtags'],
    ['uk-UA,uk;q=0.9,en-US;q=0.8,en;q=0.7', 'uk', 'as browsers send it'],
    ['en;q=0.5, uk;q=0.9', 'uk', 'the highest q wins'],
    ['en;q=0.5,uk;q=0.5', 'en', 'of equal weights, the first wins'],
    ['en ; Q = 0.3 ,\tuk ; q=0.4', 'uk', 'space around the parts means nothing'],
    ['de, en;q=0.1', 'en', 'locales that are not ours are skipped'],
    ['de', undefined, 'a locale that is not ours is no preference between ours'],
    ['eng', undefined, 'a longer name is another locale'],
    ['*', undefined, 'any locale is no preference'],
    ['de, *;q=0.5', undefined, 'nor is any locale after another'],
    ['uk, *;q=0.5', 'uk', 'a named locale before any other'],
    ['*, uk', 'uk', 'a named locale before any other of the same q'],
    ['en;q=0', undefined, 'an exclusion alone is no preference'],
    ['en, uk;q=0.000', 'en', 'q=0 with decimals excludes too'],
    ['en-GB;q=0, en;q=0.5', 'en', 'a region that is excluded leaves the locale'],
    ['uk;q=2, en;q=0.1', 'en', 'an element with a wrong weight is skipped'],
    ['uk;q=, uk;level=1, uk-, -, ;;, =, en;q=0.001', 'en', 'malformed elements are skipped'],
  ];
  for (const [header, locale, fact] of cases)
    it(`${fact}: ${header}`, () => {
      assert.equal(localeOf(header), locale);
    });

  it('reads hostile headers of any length', () => {
    const long = 1_000_000;
    for (const piece of [',', ';', '-', ' ', '*', 'e', 'en-', 'en,', 'en;q=0,', 'en;q=0.', '*-'])
      assert.equal(
        localeOf(`${piece.repeat(long / piece.length)},uk;q=0.9,en;q=0.1`) ?? 'uk',
        piece === 'en,' ? 'en' : 'uk',
      );
    assert.equal(localeOf(`uk;q=0.${'9'.repeat(long)}`), 'uk');
  });
});
