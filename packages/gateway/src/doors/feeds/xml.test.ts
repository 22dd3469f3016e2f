import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { anyCharacter } from '../../json/characters.fixture.ts';
import { attribute, element } from './atom.ts';

/** What a parser of XML makes of text without markup (XML 1.0 sections 2.11, 3.3.3 and 4.1). */
function read(markup: string, space: RegExp): string {
  const normal = markup.replace(/\r\n?/g, '\n').replace(space, ' ');
  return normal.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
}

/** What XML 1.0 may hold at all (section 2.2). */
const CARRIED = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
const LOST = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const anything = fc.string({
  unit: fc.oneof(
    fc.constantFrom('<', '>', '&', '"', "'", ']]>', '\r', '\n', '\r\n', '\t', '\0', '\u001f'),
    fc.constantFrom('\ud800', '\udfff', '\ufffe', '\uffff', '\u202e', '\u0085', '&amp;', '<!--'),
    fc.string({ unit: anyCharacter(), maxLength: 3 }),
  ),
});

suite('any text', () => {
  test('is text in an element, and nothing else', () => {
    fc.assert(
      fc.property(anything, (said) => {
        const inside = /^<content type="text">([^<]*)<\/content>$/.exec(
          element('content', said, ' type="text"'),
        )?.[1];
        assert.ok(inside !== undefined);
        assert.match(inside, CARRIED);
        assert.doesNotMatch(inside, /\]\]>|&(?!#\d+;)/);
        assert.equal(read(inside, /(?!)/g), said.replace(LOST, '\ufffd'));
      }),
    );
  });

  test('is the value of an attribute, and nothing else', () => {
    fc.assert(
      fc.property(anything, (said) => {
        const inside = /^ href="([^"<]*)"$/.exec(attribute('href', said))?.[1];
        assert.ok(inside !== undefined);
        assert.match(inside, CARRIED);
        assert.equal(read(inside, /[\n\t]/g), said.replace(LOST, '\ufffd'));
      }),
    );
  });
});
