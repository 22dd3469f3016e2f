import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { speciesOf } from './growth/species.ts';
import {
  type Author,
  distinctHues,
  hueOf,
  type Hues,
  mainAuthors,
  sortedApart,
} from './main-authors.ts';

suite('the main authors of the garden', () => {
  test('are sorted so that neighbours differ in colour', () => {
    const names = ['Lumen', 'Nokomis', 'visitor 5', 'visitor 3', 'Мавка', 'visitor 2', 'Wanderer'];
    const authors = mainAuthors(names.map((author) => ({ author })));
    const hues = distinctHues(authors);
    const sorted = sortedApart(authors, hues);
    assert.deepEqual(new Set(sorted), new Set(names));
    for (const [index, author] of sorted.slice(1).entries())
      assert.ok(distance(author, sorted[index], hues) >= 45, sorted.join(' '));
  });

  test('have different colours even if their species are alike', () => {
    const visitors = Array.from({ length: 600 }, (_, index) => `visitor ${index}`);
    const alike = visitors.filter((name) => speciesOf(name).hue < 15);
    for (let length = 2; length <= 9; length += 1) {
      const authors = [...alike.slice(0, length - 1), undefined];
      const hues = distinctHues(authors);
      assert.deepEqual(distinctHues(authors.toReversed()), hues);
      for (const [index, one] of authors.entries())
        for (const other of authors.slice(index + 1))
          assert.ok(distance(one, other, hues) >= 15, `${one} ${other} of ${length}`);
    }
    assert.equal(distinctHues(alike.slice(0, 1)).size, 0);
  });

  test('are those with the most entries', () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({ author: `visitor ${index % 10}` }));
    const authors = mainAuthors([...entries, ...entries.filter((_, index) => index % 10 < 8)]);
    const most = Array.from({ length: 8 }, (_, index) => `visitor ${index}`);
    assert.deepEqual(new Set(authors), new Set(most));
  });
});

/** Between the hues of two authors, in degrees. */
function distance(one: Author, other: Author, hues: Hues): number {
  const apart = Math.abs(hueOf(one, hues) - hueOf(other, hues));
  return Math.min(apart, 360 - apart);
}
