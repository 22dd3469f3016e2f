/** A reading is of the log as it was when the reading began, however slowly it goes on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Entry, ReadEnd, Selection } from '../../packages/gateway/src/log/log.ts';
import { bodyOf, type DraftFields } from '../../packages/gateway/src/log/log.fixture.ts';
import { assertSameBytes, collect, type Open, copied } from './fixtures.ts';
import { assertEntry, joined, CheckedLog, type ExpectedReading } from './checked-log.ts';

const SELECTIONS: readonly Selection[] = [
  { facets: [], order: 'newest' },
  { facets: [], order: 'oldest' },
  { facets: [], order: 'oldest', limit: 250 },
  { facets: [], order: 'oldest', limit: 100_000, after: 3 },
  { facets: [facet('to', 'all')], order: 'newest' },
  { facets: [facet('to', 'all')], order: 'oldest', limit: 150 },
  { facets: [facet('to', 'all'), facet('identity', 'third')], order: 'oldest' },
  { facets: [facet('identity', 'third'), facet('to', 'all')], order: 'newest', after: 7 },
];

export function describeSnapshots(open: Open): void {
  describe('a reading while others append', () => {
    it('has nothing that was appended after it was asked for', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      await checked.appendAll(draftsOf(0, 20));
      const texts = SELECTIONS.map((selection) => opened.log.readText(selection, ',\n'));
      const entries = SELECTIONS.map((selection) => opened.log.readEntries(selection));
      await checked.appendAll(draftsOf(20, 60));
      for (const [at, selection] of SELECTIONS.entries()) {
        const expected = checked.expect(selection, 20);
        await assertTexts([], texts[at] ?? assert.fail(), expected);
        await assertEntries([], entries[at] ?? assert.fail(), expected);
      }
    });

    it('goes on right after a pause in which 1,000 entries were appended', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      await checked.appendAll(draftsOf(0, 300, 10_000));
      for (const selection of SELECTIONS) {
        const length = checked.entries.length;
        const expected = checked.expect(selection, length);
        const texts = opened.log.readText(selection, ',\n');
        const entries = opened.log.readEntries(selection);
        const begun = [await steps(texts, 2), await steps(entries, 10)] as const;
        await checked.appendAll(draftsOf(length, length + 1000));
        await assertTexts(begun[0], texts, expected);
        await assertEntries(begun[1], entries, expected);
        await checked.check(selection);
      }
    });

    it('lets a log be appended to while many readings stand open', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      await checked.appendAll(draftsOf(0, 100, 10_000));
      const begun = await Promise.all(
        Array.from({ length: 25 }, () => SELECTIONS)
          .flat()
          .map(async (selection) => {
            const reading = opened.log.readText(selection, ',\n');
            return { selection, reading, first: await steps(reading, 1) };
          }),
      );
      await checked.appendAll(draftsOf(100, 1100));
      for (const { selection, reading, first } of begun) {
        await assertTexts(first, reading, checked.expect(selection, 100));
      }
    });
  });
}

async function assertTexts(
  first: readonly Uint8Array[],
  reading: AsyncGenerator<Uint8Array, ReadEnd, undefined>,
  expected: ExpectedReading,
): Promise<void> {
  const { items, end } = await collect(reading);
  const bytes = Buffer.concat([...first, ...items]);
  assertSameBytes(bytes, joined(expected.entries, ',\n'), 'read()');
  assert.deepEqual(end, expected.end);
}

async function assertEntries(
  first: readonly Entry[],
  reading: AsyncGenerator<Entry, ReadEnd, undefined>,
  { entries: known, end }: ExpectedReading,
): Promise<void> {
  const rest = await collect(reading);
  const entries = [...first, ...rest.items];
  assert.equal(entries.length, known.length);
  for (const [at, one] of known.entries()) await assertEntry(entries[at] ?? assert.fail(), one);
  assert.deepEqual(rest.end, end);
}

async function steps<Item>(reading: AsyncGenerator<Item>, count: number): Promise<Item[]> {
  const items: Item[] = [];
  while (items.length < count) {
    const step = await reading.next();
    if (step.done === true) break;
    items.push(copied(step.value));
  }
  return items;
}

function draftsOf(from: number, to: number, size = 40): DraftFields[] {
  return Array.from({ length: to - from }, (_, index) => ({
    members: { to: ['all'], identity: [(from + index) % 3 === 0 ? 'third' : 'other'] },
    body: bodyOf(size, from + index),
  }));
}
