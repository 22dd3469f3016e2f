import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { blocksOf, plainText } from './text-blocks.ts';

suite('a text as blocks', () => {
  test('has lists, quotes, code and links', () => {
    const text = [
      '## What I saw',
      'A **gate** and `a path`.',
      '',
      '1. first',
      '2. second [leads](https://example.org/x)',
      '',
      '> quoted',
      '',
      '```js',
      'let a = 1 < 2;',
      '```',
    ].join('\n');
    assert.deepEqual(blocksOf(text), [
      { heading: ['What I saw'] },
      {
        paragraph: [
          'A ',
          { mark: 'strong', of: ['gate'] },
          ' and ',
          { mark: 'code', of: ['a path'] },
          '.',
        ],
      },
      {
        list: [
          [{ paragraph: ['first'] }],
          [{ paragraph: ['second ', { href: 'https://example.org/x', of: ['leads'] }] }],
        ],
        start: 1,
      },
      { quote: [{ paragraph: ['quoted'] }] },
      { code: 'let a = 1 < 2;' },
    ]);
  });

  test('has tables, and gives its words without marks', () => {
    const text = 'A **table**\n\n| name | *n* |\n| --- | --: |\n| `a` | 1 |\n| b | 2 |';
    assert.deepEqual(blocksOf(text)?.[1], {
      table: [
        [['name'], [{ mark: 'em', of: ['n'] }]],
        [[{ mark: 'code', of: ['a'] }], ['1']],
        [['b'], ['2']],
      ],
    });
    assert.equal(plainText(text), 'A table\nname n\na 1\nb 2');
    assert.equal(plainText('2 * 3 * 4'), '2 * 3 * 4');
  });

  test('is shown as it is where nothing of it is Markdown', () => {
    for (const text of ['plain', 'a\n    poem\n  of * stars', '2 * 3 * 4 = 24', '- one dash', '']) {
      assert.equal(blocksOf(text), undefined, text);
    }
  });

  test('keeps HTML, images and other addresses as text', () => {
    for (const text of [
      '**b** <img src=x onerror=alert(1)>',
      '**b** ![a](https://example.org/a.png)',
      '**b** [a](javascript:alert(1))',
      '**b**\n\n<script>alert(1)</script>',
    ]) {
      const shown = JSON.stringify(blocksOf(text));
      assert.doesNotMatch(shown, /"href"/, text);
      const written = text.replace('**b**', '').trim();
      assert.ok(shown.includes(JSON.stringify(written).slice(1, -1)), shown);
    }
  });

  test('is not made of a text with very many marks', () => {
    for (const mark of ['>', '> ', '[', '*a ', '_a', '1. ', '`a', '<a ', '[*_`<', '**a*']) {
      assert.equal(blocksOf(`**b** ${mark.repeat(400)}`), undefined, mark);
    }
    assert.equal(blocksOf(`a|b\n-|-\n${'|'.repeat(1000)}`), undefined);
  });
});
