import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { ticksIn } from './time-axis.ts';
import { around, lengthOf, moved, positionOf, wholeRange, zoomed } from './time-view.ts';

const NOW = 1_795_000_000_000;
const DAY = 86_400_000;

describe('the view', () => {
  it('shows one moment in a minute, and any range with a margin', () => {
    assert.equal(lengthOf(wholeRange(NOW, NOW, 1000)), 60_000);
    const whole = wholeRange(NOW - DAY, NOW, 1000);
    assert.ok(positionOf(whole, NOW - DAY) > 0.03 && positionOf(whole, NOW) < 0.97);
    const narrow = wholeRange(NOW - DAY, NOW, 320);
    assert.ok(positionOf(narrow, NOW - DAY) * 320 > 45);
  });

  it('stays finite and within the whole range, however it is moved and zoomed', () => {
    const step = fc.record({
      zoom: fc.double({ min: 0.01, max: 100, noNaN: true }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      move: fc.double({ min: -5, max: 5, noNaN: true }),
    });
    const whole = wholeRange(NOW - 300 * DAY, NOW, 1000);
    const property = fc.property(fc.array(step), (steps) => {
      let view = whole;
      for (const { zoom, at, move } of steps) {
        view = zoomed(view, zoom, view.from + at * lengthOf(view), whole);
        view = moved(view, move, whole);
        view = at > 0.9 ? around({ from: view.from, to: view.from + 5 }, whole) : view;
        assert.ok(view.from >= whole.from - 1 && view.to <= whole.to + 1);
        assert.ok(lengthOf(view) > 0.19 && lengthOf(view) <= lengthOf(whole) * 1.000001);
      }
    });
    fc.assert(property);
  });

  it('keeps the time that is zoomed at in its place', () => {
    const whole = wholeRange(NOW - DAY, NOW, 1000);
    const time = NOW - DAY / 3;
    const close = zoomed(whole, 0.01, time, whole);
    assert.ok(Math.abs(positionOf(close, time) - positionOf(whole, time)) < 1e-6);
  });

  it('has a few ticks at round times, from milliseconds to decades', () => {
    for (const length of [3, 900, 40_000, 3e6, 5e7, 9e8, 4e9, 9e10, 2e12]) {
      const view = { from: NOW - length, to: NOW };
      const ticks = ticksIn(view, lengthOf(view) / 8, 'uk');
      assert.ok(ticks.length >= 1 && ticks.length <= 10, `${length}: ${ticks.length}`);
      assert.ok(ticks.every(({ time }) => time >= view.from && time <= view.to));
      assert.ok(ticks.every(({ label }) => label.length > 0));
    }
  });
});
