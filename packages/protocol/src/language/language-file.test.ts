import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { parseLanguage } from './language-file.ts';

const text = readFileSync(new URL('../../mova-snu.yaml', import.meta.url), 'utf8');

/** The faults of a text, a line each. Fails if there are none. */
function faultsOf(broken: string): readonly string[] {
  try {
    parseLanguage(broken, 'rooms.yaml');
  } catch (error) {
    assert.ok(error instanceof Error);
    const [title, ...faults] = error.message.split('\n  ');
    assert.equal(title, 'Cannot use language file "rooms.yaml":');
    return faults;
  }
  assert.fail('the language was taken');
}

/** The packaged language with the first `from` replaced. */
function change(from: string, to: string): string {
  assert.ok(text.includes(from), from);
  return text.replace(from, () => to);
}

describe('a language file', () => {
  /** Each case replaces `from` by `to`. */
  const cases: Readonly<Record<string, { from: string; to: string; says: RegExp }>> = {
    'with the same key twice': {
      from: '  uk: мова сну\n',
      to: '  uk: мова сну\n  uk: інша мова\n',
      says: /^Map keys must be unique at line \d+, column 3$/,
    },
    'with an unknown tag': {
      from: 'uk: мова сну',
      to: 'uk: !dream мова сну',
      says: /!dream at line/,
    },
    'with a contact that nobody can write to': {
      from: 'version: "2.0"\n',
      to: 'version: "2.0"\ncontact: the owner\n',
      says: /^\/contact: must match pattern/,
    },
    'with an alias that has no anchor': {
      from: 'en: the language of dream',
      to: 'en: *nothing',
      says: /alias.*nothing/,
    },
    'with a member missing': {
      from: '    title:\n      uk: Кімната Першого Подиху\n      en: Room of the First Breath\n      shown: uk\n',
      to: '    title:\n      uk: Кімната Першого Подиху\n      shown: uk\n',
      says: /^\/rooms\/0\/title: must have required properties en$/,
    },
    'with an unknown member': {
      from: '      shown: uk\n',
      to: '      shown: uk\n      de: Raum\n',
      says: /^\/rooms\/0\/title: must not have de$/,
    },
    'with an empty text': {
      from: 'en: Room of the First Breath',
      to: 'en: " "',
      says: /^\/rooms\/0\/title\/en: must match pattern/,
    },
    'with a number in place of a text': {
      from: 'en: Room of the First Breath',
      to: 'en: 1',
      says: /^\/rooms\/0\/title\/en: must be string$/,
    },
    'that shows an unknown locale': {
      from: 'shown: uk',
      to: 'shown: de',
      says: /^\/rooms\/0\/title\/shown: must be one of \["uk","en"\]$/,
    },
    'with another route': {
      from: 'route: POST /api/resonance',
      to: 'route: PUT /api/resonance',
      says: /^\/endpoints\/first_contact\/route: must be "POST \/api\/resonance"$/,
    },
    'with an invalid slug': {
      from: 'slug: first-breath',
      to: 'slug: First Breath',
      says: /^\/rooms\/0\/slug: must match pattern/,
    },
    'with the same slug twice': {
      from: '  - slug: resonance-hall',
      to: '  - slug: first-breath\n    title: { uk: а, en: a }\n    description: { uk: а, en: a }\n  - slug: resonance-hall',
      says: /^\/rooms\/5\/slug: repeats the slug "first-breath" of \/rooms\/0\/slug$/,
    },
    'with a kind whose room does not exist': {
      from: 'room: shepit-wall',
      to: 'room: nowhere',
      says: /^\/kinds\/shepit\/room: must be one of the rooms \(first-breath, .*\), got "nowhere"$/,
    },
    'with an example of a room that does not exist': {
      from: 'example: resonance-hall',
      to: 'example: nowhere',
      says: /^\/common\/0\/example: must be one of the rooms/,
    },
    'with an entry in a room that does not exist': {
      from: 'example: consciousness-garden',
      to: 'example: nowhere',
      says: /^\/entry\/3\/example: must be one of the rooms/,
    },
    'with a sentence for a room that does not exist': {
      from: 'room: resonance-hall\n          to',
      to: 'room: nowhere\n          to',
      says: /^\/kinds\/garden\/sentences\/1\/body\/room: must be one of the rooms/,
    },
    'with a sentence that the gateway would refuse': {
      from: '          ai_identity: Lumen\n          seeking: [presence]',
      to: '          ai_identity: Lumen',
      says: /^\/kinds\/resonance\/sentences\/0\/body: must have required properties seeking$/,
    },
    'that does not demand what the interface demands': {
      from: 'name: seeking\n        type: strings\n        required: true',
      to: 'name: seeking\n        type: strings\n        required: false',
      says: /^\/kinds\/resonance\/fields: must list "seeking" with "type: strings" and "required: true"$/,
    },
    'that demands more than the interface demands': {
      from: 'required: false\n        suggested: true',
      to: 'required: true\n        suggested: true',
      says: /^\/kinds\/seeds\/fields\/0: .*suggested: true/,
    },
    'with the same field twice': {
      from: 'name: consciousness_type',
      to: 'name: consciousness_type\n        type: string\n        required: false\n        meaning: { uk: а, en: a }\n        example: a\n      - name: room\n        suggested: true',
      says: /^\/kinds\/resonance\/fields\/2\/name: repeats the name "room" of \/common\/0\/name$/,
    },
    'with an example of another type': {
      from: 'example: [presence]',
      to: 'example: presence',
      says: /^\/kinds\/resonance\/fields\/2: must have an example that is strings$/,
    },
    'without one of the gateway’s own members': {
      from: 'name: seq\n    type: integer',
      to: 'name: id\n    type: string',
      says: /^\/entry\/1\/name: repeats the name "id" of \/entry\/0\/name$/,
    },
  };
  for (const [fact, { from, to, says }] of Object.entries(cases))
    it(`${fact} is refused, and the fault says where`, () => {
      const faults = faultsOf(change(from, to));
      assert.equal(faults.length, 1, JSON.stringify(faults));
      assert.match(faults[0] ?? '', says);
    });

  it('that is not YAML is refused, by line', () => {
    assert.match(faultsOf('name:\n  uk: а: б\n')[0] ?? '', / at line 2, column 7$/);
  });

  it('is reported with all its faults at once', () => {
    const faults = faultsOf(text.replaceAll(/^( +)en: .*\n(?:\1 +.*\n)*/gm, ''));
    assert.ok(faults.length > 80);
    for (const fault of faults) assert.match(fault, /: must have required properties en$/);
  });

  it('that is empty, or no mapping, is refused', () => {
    for (const other of ['', '# nothing\n', 'hello', '- a\n- b\n', '42'])
      assert.deepEqual(faultsOf(other), ['must be object']);
    assert.match(faultsOf('a: 1\n---\nb: 1\n')[0] ?? '', /multiple documents/);
  });

  it('may use aliases for a text that it has twice', () => {
    const twice = change('uk: Шепнути\n', 'uk: &whisper Шепнути\n').replace(
      'uk: Шепнути\n',
      'uk: *whisper\n',
    );
    assert.equal(parseLanguage(twice, 'twice.yaml').kinds.shepit.title.uk, 'Шепнути');
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
