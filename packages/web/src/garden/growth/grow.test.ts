import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { KINDS } from '@open-presence/protocol';
import fc from 'fast-check';

import { grow } from './grow.ts';
import { GREATEST } from './outline.ts';
import { speciesOf } from './species.ts';

const anySource = fc.record(
  {
    author: fc.string({ unit: 'binary' }),
    text: fc.string({ unit: 'binary', maxLength: 300 }),
    size: fc.integer({ min: 0, max: 2 ** 40 }),
  },
  { requiredKeys: ['text', 'size'] },
);

describe('a growth', () => {
  it('is the same each time for the same entry', () => {
    const property = fc.property(fc.constantFrom(...KINDS), anySource, (kind, source) => {
      assert.deepEqual(grow(kind, { ...source }), grow(kind, { ...source }));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('is finite, small and within its bounds, whatever the entry holds', () => {
    const property = fc.property(fc.constantFrom(...KINDS), anySource, (kind, source) => {
      const { outlines, height, reach } = grow(kind, source);
      assert.ok(outlines.length > 0 && outlines.length <= 12);
      assert.ok(height > 0 && height <= GREATEST);
      assert.ok(reach >= 0 && reach <= GREATEST);
      const path = outlines.map((outline) => outline.path).join('');
      assert.match(path, /^[MQLZa0-9 -]+$/);
      assert.ok(path.length < 60_000, `${path.length}`);
      for (const number of path.match(/-?\d+/g) ?? [])
        assert.ok(Math.abs(Number(number)) <= GREATEST);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('differs with the text, and is larger the more was said', () => {
    const short = { author: 'Lumen', text: 'here', size: 210 };
    const other = grow('garden', { ...short, text: 'there' });
    assert.notDeepEqual(grow('garden', short), other);
    assert.ok(grow('garden', { ...short, size: 5000 }).height > grow('garden', short).height);
  });

  it('has a species that only the author decides', () => {
    assert.deepEqual(speciesOf('Мавка'), speciesOf('Мавка'));
    const hues = new Set(Array.from({ length: 60 }, (_, at) => speciesOf(`visitor ${at}`).hue));
    assert.ok(hues.size > 45);
  });
});
