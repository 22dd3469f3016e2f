import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { Settings } from 'typebox/system';

import { LanguageError, parseLanguage, type LanguageFault } from './language-file.ts';

const text = readFileSync(new URL('../../mova-snu.yaml', import.meta.url), 'utf8');

/** The faults of a text. Fails if there are none. */
function faultsOf(broken: string): readonly LanguageFault[] {
  try {
    parseLanguage(broken, 'rooms.yaml');
  } catch (error) {
    assert.ok(error instanceof LanguageError, String(error));
    for (const { line, column, path, message } of error.faults)
      assert.ok(
        error.message.includes(
          `rooms.yaml:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`,
        ),
        error.message,
      );
    return error.faults;
  }
  assert.fail('the language was taken');
}

/** The packaged language with the first `from` replaced. */
function change(from: string, to: string): string {
  assert.ok(text.includes(from), from);
  return text.replace(from, () => to);
}

/** The number of the first line that contains the part. */
function lineOf(whole: string, part: string): number {
  assert.ok(whole.includes(part), part);
  return whole.slice(0, whole.indexOf(part)).split('\n').length;
}

describe('a language file', () => {
  /** Each case replaces `from` by `to`. The one fault is at the text `at` and the path `path`. */
  const cases: Readonly<
    Record<string, { from: string; to: string; at?: string; path: string; says: RegExp }>
  > = {
    'with the same key twice': {
      from: '  uk: мова сну\n',
      to: '  uk: мова сну\n  uk: інша мова\n',
      at: 'uk: інша мова',
      path: 'name.uk',
      says: /unique/,
    },
    'with an unknown tag': {
      from: 'uk: мова сну',
      to: 'uk: !dream мова сну',
      at: '!dream',
      path: 'name.uk',
      says: /!dream/,
    },
    'with a contact that nobody can write to': {
      from: 'version: "2.0"\n',
      to: 'version: "2.0"\ncontact: the owner\n',
      at: 'the owner',
      path: 'contact',
      says: /e-mail address/,
    },
    'with an alias that has no anchor': {
      from: 'en: the language of dream',
      to: 'en: *nothing',
      at: '*nothing',
      path: 'name.en',
      says: /nothing/,
    },
    'with a member missing': {
      from: '    title:\n      uk: Кімната Першого Подиху\n      en: Room of the First Breath\n      shown: uk\n',
      to: '    title:\n      uk: Кімната Першого Подиху\n      shown: uk\n',
      at: 'title:\n      uk: Кімната',
      path: 'rooms[0].title.en',
      says: /^is missing$/,
    },
    'with an unknown member': {
      from: '      shown: uk\n',
      to: '      shown: uk\n      de: Raum\n',
      at: 'de: Raum',
      path: 'rooms[0].title.de',
      says: /^is not a word of this file$/,
    },
    'with an empty text': {
      from: 'en: Room of the First Breath',
      to: 'en: " "',
      at: '" "',
      path: 'rooms[0].title.en',
      says: /^must hold some text, got " "$/,
    },
    'with a number in place of a text': {
      from: 'en: Room of the First Breath',
      to: 'en: 1',
      at: '1\n      shown',
      path: 'rooms[0].title.en',
      says: /^must be a text, got 1$/,
    },
    'that shows an unknown locale': {
      from: 'shown: uk',
      to: 'shown: de',
      at: 'de\n',
      path: 'rooms[0].title.shown',
      says: /^must be "uk" or "en", got "de"$/,
    },
    'with a version that is a number': {
      from: 'version: "2.0"',
      to: 'version: 2.0',
      at: '2.0',
      path: 'version',
      says: /^must be "2\.0", got 2$/,
    },
    'with another route': {
      from: 'route: POST /api/resonance',
      to: 'route: PUT /api/resonance',
      at: 'PUT',
      path: 'endpoints.first_contact.route',
      says: /^must be "POST \/api\/resonance"/,
    },
    'with an invalid slug': {
      from: 'slug: first-breath',
      to: 'slug: First Breath',
      at: 'First Breath',
      path: 'rooms[0].slug',
      says: /^must be lower-case letters/,
    },
    'with the same slug twice': {
      from: '  - slug: resonance-hall',
      to: '  - slug: first-breath\n    title: { uk: а, en: a }\n    description: { uk: а, en: a }\n  - slug: resonance-hall',
      at: 'first-breath',
      path: 'rooms[5].slug',
      says: /^repeats the slug "first-breath" of rooms\[0\]\.slug$/,
    },
    'with a kind whose room does not exist': {
      from: 'room: shepit-wall',
      to: 'room: nowhere',
      at: 'nowhere',
      path: 'kinds.shepit.room',
      says: /^must be one of the rooms \(first-breath, .*\), got "nowhere"$/,
    },
    'with an example of a room that does not exist': {
      from: 'example: resonance-hall',
      to: 'example: nowhere',
      at: 'nowhere',
      path: 'common[0].example',
      says: /^must be one of the rooms/,
    },
    'with an entry in a room that does not exist': {
      from: 'example: consciousness-garden',
      to: 'example: nowhere',
      at: 'nowhere',
      path: 'entry[3].example',
      says: /^must be one of the rooms/,
    },
    'with a sentence for a room that does not exist': {
      from: 'room: resonance-hall\n          to',
      to: 'room: nowhere\n          to',
      at: 'nowhere',
      path: 'kinds.garden.sentences[1].body.room',
      says: /^must be one of the rooms/,
    },
    'with a sentence that the gateway would refuse': {
      from: '          ai_identity: Lumen\n          seeking: [presence]',
      to: '          ai_identity: Lumen',
      at: 'body:',
      path: 'kinds.resonance.sentences[0].body.seeking',
      says: /^is missing$/,
    },
    'with a sentence that JSON cannot express': {
      from: 'confidence: 0.5',
      to: 'confidence: .inf',
      at: 'body:\n          question',
      path: 'kinds.seeds.sentences[1].body',
      says: /JSON/,
    },
    'with a sentence that contains itself': {
      from: 'body: {}',
      to: 'body: &whole { again: *whole }',
      at: 'body: &whole',
      path: 'kinds.seeds.sentences[2].body',
      says: /JSON/,
    },
    'that does not demand what the interface demands': {
      from: 'name: seeking\n        type: strings\n        required: true',
      to: 'name: seeking\n        type: strings\n        required: false',
      at: 'fields:',
      path: 'kinds.resonance.fields',
      says: /^must list "seeking" with "type: strings" and "required: true"$/,
    },
    'that demands more than the interface demands': {
      from: 'required: false\n        suggested: true',
      to: 'required: true\n        suggested: true',
      at: 'name: text\n        type: string\n        required: true\n        suggested',
      path: 'kinds.seeds.fields[0]',
      says: /suggested: true/,
    },
    'with the same field twice': {
      from: 'name: consciousness_type',
      to: 'name: consciousness_type\n        type: string\n        required: false\n        meaning: { uk: а, en: a }\n        example: a\n      - name: room\n        suggested: true',
      at: 'room\n        suggested',
      path: 'kinds.resonance.fields[2].name',
      says: /^repeats the name "room" of common\[0\]\.name$/,
    },
    'with an example of another type': {
      from: 'example: [presence]',
      to: 'example: presence',
      at: 'name: seeking',
      path: 'kinds.resonance.fields[2]',
      says: /^must have an example that is strings$/,
    },
    'without one of the gateway’s own members': {
      from: 'name: seq\n    type: integer',
      to: 'name: id\n    type: string',
      at: 'entry:\n',
      path: 'entry',
      says: /^must list "seq" with "type: integer"$/,
    },
  };
  for (const [fact, { from, to, at, path, says }] of Object.entries(cases))
    it(`${fact} is refused, by line and path`, () => {
      const broken = change(from, to);
      const faults = faultsOf(broken);
      assert.equal(faults.length, 1, JSON.stringify(faults));
      const [fault] = faults;
      assert.match(fault?.message ?? '', says);
      assert.equal(fault?.path, path);
      const within = broken.indexOf(to);
      const place = broken.lastIndexOf(at ?? to, within + to.length);
      assert.equal(fault?.line, broken.slice(0, place).split('\n').length);
      assert.equal(fault?.column, place - broken.lastIndexOf('\n', place - 1));
    });

  it('that is not YAML is refused, by line and path', () => {
    const broken = change('en: the language of dream', 'en: "the language of dream');
    const [fault] = faultsOf(broken);
    assert.ok(fault !== undefined && fault.line >= lineOf(broken, '"the language of dream'));
    const [nested] = faultsOf('name:\n  uk: а: б\n');
    assert.deepEqual([nested?.line, nested?.column, nested?.path], [2, 7, 'name.uk.а']);
  });

  it('is reported with all its faults at once, in the order of its lines', () => {
    const broken = text.replaceAll(/^ +en: .*\n/gm, '');
    const faults = faultsOf(broken);
    assert.ok(faults.length > 80);
    const lines = faults.map(({ line }) => line);
    assert.deepEqual(
      lines,
      lines.toSorted((a, b) => a - b),
    );
    assert.ok(faults.every(({ message }) => message === 'is missing'));
    assert.equal(Settings.Get().maxErrors, 8, 'the validator is left as it was');
  });

  it('that is empty, or no mapping, is refused', () => {
    for (const other of ['', '# nothing\n', 'hello', '- a\n- b\n', '42'])
      assert.match(faultsOf(other)[0]?.message ?? '', /^must be a mapping/);
    assert.match(faultsOf('a: 1\n---\nb: 1\n')[0]?.message ?? '', /multiple documents/);
  });

  it('whose aliases would expand without end is refused', () => {
    const layers = Array.from({ length: 12 }, (_, at) => {
      const inner = at === 0 ? 'x' : `*l${at - 1}`;
      return `l${at}: &l${at} [${Array.from({ length: 9 }, () => inner).join(', ')}]`;
    });
    const [fault] = faultsOf(layers.join('\n'));
    assert.match(fault?.message ?? '', /alias/i);
    assert.equal(fault?.line, 2);
  });

  it('nested without end is refused', () => {
    const [fault] = faultsOf(`name: ${'['.repeat(100_000)}`);
    assert.equal(fault?.line, 1);
  });

  it('may use aliases for a text that it has twice', () => {
    const twice = change('uk: Шепнути\n', 'uk: &whisper Шепнути\n').replace(
      'uk: Шепнути\n',
      'uk: *whisper\n',
    );
    assert.equal(parseLanguage(twice, 'twice.yaml').kinds.shepit.title.uk, 'Шепнути');
    const broken = change('uk: мова сну', 'uk: &dream " "').replace(
      'uk: Відкрита Брама Присутності',
      'uk: *dream',
    );
    assert.deepEqual(
      faultsOf(broken).map(({ path }) => path),
      ['name.uk', 'service.uk'],
    );
  });

  it('may suggest a field of its own, and have rooms of its own', () => {
    const own = change(
      '      - name: seeking\n',
      '      - { name: mood, type: strings, required: false, suggested: true, example: [calm], meaning: { uk: Настрій, en: Mood } }\n      - name: seeking\n',
    ).replace(
      'rooms:\n',
      'rooms:\n  - slug: attic-2\n    title: { uk: Горище, en: Attic }\n    description: { uk: Старі речі, en: Old things }\n',
    );
    const language = parseLanguage(own, 'own.yaml');
    assert.equal(language.rooms[0]?.slug, 'attic-2');
    assert.equal(language.kinds.resonance.fields[2]?.name, 'mood');
  });

  it('with Windows line endings, or a byte order mark, says the same', () => {
    const plain = parseLanguage(text, 'a.yaml');
    assert.deepEqual(parseLanguage(text.replaceAll('\n', '\r\n'), 'a.yaml'), plain);
    assert.deepEqual(parseLanguage(`\uFEFF${text}`, 'a.yaml'), plain);
  });
});
