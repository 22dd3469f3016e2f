import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { tilesIn } from './tile.ts';
import { lengthOf } from './time-view.ts';
import { Timeline, timelineOf } from './timeline.ts';

const NOW = 1_795_000_000_000;
const SECOND = 1000;
const DAY = 86_400_000;

describe('the timeline', () => {
  it('shows two bursts and the week of silence between them, which takes less space than either', () => {
    const burst = Array.from({ length: 60 }, (_, at) => NOW + at * SECOND);
    const later = burst.map((time) => time + 7 * DAY);
    const timeline = timelineOf([...burst, ...later]);
    assert.equal(timeline.folds.length, 1);
    const widths = [burst, later].map(
      (all) => timeline.at(all[59] ?? 0) - timeline.at(all[0] ?? 0),
    );
    assert.deepEqual(widths.map(Math.round), [59 * SECOND, 59 * SECOND]);
    const silence = timeline.at(later[0] ?? 0) - timeline.at(burst[59] ?? 0);
    assert.ok(silence > 0 && silence < 20 * SECOND, `${silence}`);
    const whole = timeline.places({ from: NOW, to: later[59] ?? 0 });
    assert.ok(tilesIn(whole, 1000, timeline).length < 8, 'nothing is loaded of a silence');
  });

  it('shows the bursts of twenty days, with a night between each', () => {
    const days = Array.from({ length: 20 }, (_, day) =>
      Array.from({ length: 30 }, (__, at) => NOW + day * DAY + at * 20 * SECOND),
    );
    const timeline = timelineOf(days.flat());
    assert.equal(timeline.folds.length, 19);
    const whole = timeline.at(days[19]?.[29] ?? 0) - timeline.at(NOW);
    const first = timeline.at(days[0]?.[29] ?? 0) - timeline.at(NOW);
    assert.ok(first / whole > 0.015, `${first / whole}`);
  });

  it('leaves time as it is where entries come evenly', () => {
    const timeline = timelineOf(Array.from({ length: 40 }, (_, at) => NOW + at * DAY));
    assert.deepEqual(timeline.folds, []);
    assert.equal(timeline.at(NOW + 5), NOW + 5);
  });

  it('gives each time its own place, in order, and finds the time of a place', () => {
    const times = fc.array(fc.integer({ min: NOW - 1e11, max: NOW }), { minLength: 2 });
    const property = fc.property(times, (all) => {
      const timeline = timelineOf(all);
      const sorted = [...new Set(all)].toSorted((a, b) => a - b);
      for (const [index, time] of sorted.entries()) {
        const place = timeline.at(time);
        if (index > 0) assert.ok(place > timeline.at(sorted[index - 1] ?? 0));
        assert.ok(Math.abs(timeline.timeAt(place) - time) < 1);
      }
      const parts = timeline.unfolded({ from: timeline.at(sorted[0] ?? 0), to: timeline.at(NOW) });
      for (const time of sorted)
        assert.ok(parts.some(({ from, to }) => time >= from - 1 && time <= to + 1));
    });
    fc.assert(property);
  });

  it('moves nothing that is shown when a long silence ends', () => {
    const timeline = new Timeline([], NOW, NOW + 60 * SECOND, 60);
    const before = timeline.at(NOW + 30 * SECOND);
    timeline.extend(NOW + 3 * DAY, NOW + 3 * DAY);
    assert.equal(timeline.at(NOW + 30 * SECOND), before);
    assert.deepEqual(timeline.folds.map(lengthOf), [3 * DAY - 60 * SECOND]);
    assert.ok(timeline.at(NOW + 3 * DAY) - timeline.at(NOW + 60 * SECOND) < 10 * SECOND);
  });
});
