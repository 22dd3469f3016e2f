import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import type { Activity, GardenEntry } from '../garden-data.ts';
import { Timeline } from './timeline.ts';
import { MAX_SINGLE, sparseRuns, SPANS_PER_TILE, tileOf, tilesIn, withEntry } from './tile.ts';

const NOW = 1_795_000_000_000;

function entryOf(seq: number, time: number): GardenEntry {
  return { id: `id ${seq}`, seq, kind: 'garden', time, size: 300, text: 'here' };
}

/** An activity with these numbers of traces in the first spans. */
function activityOf(traces: readonly number[], first = 1): Activity {
  const counts = Array.from({ length: SPANS_PER_TILE }, (_, index) => traces[index] ?? 0);
  const bounds = [first];
  for (const count of counts) bounds.push((bounds.at(-1) ?? 0) + count);
  return { head: bounds.at(-1) ?? 0, from: 0, to: 0, bounds, counts: { garden: counts } };
}

describe('tiles', () => {
  it('cover the view without gaps, with spans of 28 to 56 pixels, at any zoom', () => {
    const view = fc.record({
      from: fc.integer({ min: NOW - 1e11, max: NOW }),
      length: fc.double({ min: 0.2, max: 1e11, noNaN: true }),
      width: fc.integer({ min: 200, max: 4000 }),
    });
    const property = fc.property(view, ({ from, length, width }) => {
      const to = from + length;
      const tiles = tilesIn({ from, to }, width, new Timeline([], from, to, 1));
      assert.ok((tiles[0]?.from ?? Infinity) <= from);
      assert.ok((tiles.at(-1)?.to ?? 0) >= to);
      for (const [index, tile] of tiles.slice(1).entries())
        assert.equal(tile.from, tiles[index]?.to);
      const pixels = ((tiles[0]?.span ?? 0) / length) * width;
      assert.ok(pixels > 27 && pixels < 57, `${pixels}`);
      assert.ok(tiles.length <= 2 + width / (28 * SPANS_PER_TILE));
    });
    fc.assert(property);
  });

  it('load the entries of sparse spans in as few requests as possible', () => {
    const dense = MAX_SINGLE + 1;
    const runs = sparseRuns(activityOf([2, 0, 3, dense, 1, 0, dense, dense, 4], 10));
    const first = 15 + dense;
    assert.deepEqual(runs, [
      { from: 10, to: 15 },
      { from: first, to: first + 1 },
      { from: first + 1 + 2 * dense, to: first + 5 + 2 * dense },
    ]);
  });

  it('have a meadow for each dense span, which grows with new entries', () => {
    const key = { name: '', span: 1000, from: NOW, to: NOW + 1000 * SPANS_PER_TILE };
    const tile = tileOf(key, activityOf([1, 50]), [entryOf(1, NOW + 5)]);
    assert.deepEqual(
      tile.meadows.map(({ from, total }) => [from - NOW, total]),
      [[1000, 50]],
    );
    const grown = withEntry(withEntry(tile, entryOf(52, NOW + 1999)), entryOf(53, NOW + 2000));
    assert.equal(grown.meadows[0]?.total, 51);
    assert.deepEqual(
      grown.singles.map(({ entry }) => entry.seq),
      [1, 53],
    );
  });

  it('give entries of the same millisecond different places', () => {
    const entries = [entryOf(1, NOW), entryOf(2, NOW), entryOf(3, NOW), entryOf(4, NOW + 7)];
    const key = { name: '', span: 1024, from: NOW, to: NOW + 1024 * SPANS_PER_TILE };
    const { singles } = tileOf(key, activityOf([4]), entries);
    assert.deepEqual(
      singles.map(({ time }) => Math.round((time - NOW) * 100)),
      [0, 33, 67, 700],
    );
    const close = { name: '', span: 0.25, from: NOW, to: NOW + 0.25 * SPANS_PER_TILE };
    const near = tileOf(close, activityOf([2, 1]), entries.slice(0, 3));
    assert.deepEqual(
      near.singles.map(({ time }) => time - NOW),
      [0.0625, 0.1875, 0.375],
    );
  });
});
