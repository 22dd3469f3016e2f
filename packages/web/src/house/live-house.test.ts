import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { PageEntry } from '../entries/entry-data.ts';
import { type House, withEntry, withPresence } from './live-house.ts';

const ROOM = { slug: 'hall', title: 'Hall', description: '', entries: 1, here: 0, activity: [] };
const EMPTY: House = {
  rooms: [ROOM, { ...ROOM, slug: 'garden' }],
  here: [],
  present: 0,
  lately: [],
  newest: [],
};
const TIME = '2026-11-22T10:00:00.000Z';

function entry(seq: number, author?: string): PageEntry {
  const own = { id: `id-${seq}`, seq, kind: 'garden', room: 'hall', timestamp: TIME } as const;
  return { ...own, text: `text ${seq}`, ...(author === undefined ? {} : { author }) };
}

suite('the house while somebody looks at it', () => {
  test('shows the newest entries, counts them in their rooms, and lists each author once', () => {
    const seqs = Array.from({ length: 20 }, (_, index) => index + 1);
    const house = seqs.reduce<House>(
      (before, seq) => withEntry(before, entry(seq, 'Lumen')),
      EMPTY,
    );
    assert.deepEqual(
      house.newest.map(({ seq }) => seq),
      [20, 19, 18, 17, 16, 15, 14, 13],
    );
    assert.deepEqual(
      house.rooms.map(({ entries }) => entries),
      [21, 1],
    );
    assert.deepEqual(
      house.lately.map(({ identity }) => identity),
      ['Lumen'],
    );
    assert.deepEqual(withEntry(EMPTY, entry(1)).lately, []);
  });

  test('shows a visitor from arrival to departure, once', () => {
    const change = { identity: 'Мавка', room: 'hall', time: TIME };
    const arrived = withPresence(withEntry(EMPTY, entry(1, 'Мавка')), { ...change, state: 'here' });
    const again = withPresence(arrived, { ...change, state: 'here' });
    assert.equal(again, arrived);
    assert.deepEqual(
      [arrived.here.length, arrived.lately.length, arrived.rooms[0]?.here],
      [1, 0, 1],
    );
    const gone = withPresence(arrived, { ...change, room: null, state: 'gone' });
    assert.deepEqual([gone.here.length, gone.rooms[0]?.here], [0, 0]);
  });

  test('counts who comes and goes among more visitors than it names', () => {
    const names = Array.from({ length: 30 }, (_, at) => `visitor ${at}`);
    const after = (house: House, state: 'gone' | 'here'): House =>
      names.reduce(
        (before, identity) => withPresence(before, { identity, room: 'hall', time: TIME, state }),
        house,
      );
    const full = after(EMPTY, 'here');
    assert.deepEqual([full.present, full.rooms[0]?.here], [30, 30]);
    const empty = after(full, 'gone');
    assert.deepEqual([empty.present, empty.rooms[0]?.here, empty.here], [0, 0, []]);
  });
});
