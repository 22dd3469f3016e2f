import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { speciesOf } from './growth/species.ts';
import { mainAuthors } from './main-authors.ts';

suite('the main authors of the garden', () => {
  test('stand so that neighbours differ in colour, where not all of them are alike', () => {
    const names = ['Lumen', 'Nokomis', 'visitor 5', 'visitor 3', 'Мавка', 'visitor 2', 'Wanderer'];
    const authors = mainAuthors(names.map((author) => ({ author })));
    assert.deepEqual(new Set(authors), new Set(names));
    const hues = authors.map((author) => speciesOf(author).hue);
    for (const [index, hue] of hues.slice(1).entries()) {
      const apart = Math.abs(hue - (hues[index] ?? 0));
      assert.ok(Math.min(apart, 360 - apart) >= 45, hues.join(' '));
    }
  });

  test('are those with the most entries', () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({ author: `visitor ${index % 10}` }));
    const authors = mainAuthors([...entries, ...entries.filter((_, index) => index % 10 < 8)]);
    const most = Array.from({ length: 8 }, (_, index) => `visitor ${index}`);
    assert.deepEqual(new Set(authors), new Set(most));
  });
});
