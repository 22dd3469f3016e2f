/** The newest entries as a drawing that needs no script, and the land that the canvas lies on. */
import type { VNode } from 'preact';

import { href, useShell } from '../shell.ts';
import type { GardenEntry } from './garden-data.ts';
import type { Hues } from './main-authors.ts';
import { HORIZON, type PictureSize, unitFor } from './place.ts';
import { sceneOfEntries } from './scene.ts';
import { StillGrowth } from './still-growth.tsx';
import { positionOf, wholeRange } from './time/time-view.ts';
import { timelineOf } from './time/timeline.ts';

const SIZE: PictureSize = { width: 1200, height: 560 };

export function Land(): VNode {
  return (
    <svg
      class="land"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {landOf(SIZE).map((path, index) => (
        <path key={path} class={`land-${index}`} d={path} />
      ))}
    </svg>
  );
}

interface StillPictureProps {
  readonly entries: readonly GardenEntry[];
  readonly hues: Hues;
  readonly label: string;
  /** The name of a growth: what it is, and whose. */
  readonly nameOf: (entry: GardenEntry) => string;
}

export function StillPicture({ entries, hues, label, nameOf }: StillPictureProps): VNode {
  const shell = useShell();
  const times = entries.map(({ time }) => time);
  const timeline = timelineOf(times);
  const whole = timeline.places({ from: Math.min(...times), to: Math.max(...times) });
  const view = wholeRange(whole.from, whole.to, SIZE.width);
  const unit = unitFor(SIZE, entries.length);
  return (
    <svg
      class="growths"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      preserveAspectRatio="xMaxYMax slice"
      role="group"
      aria-label={label}
    >
      {sceneOfEntries(entries, timeline).growths.map((growth) => (
        <a key={growth.entry.id} href={href(shell, `/entries/${growth.entry.id}`)} tabIndex={-1}>
          <title>{nameOf(growth.entry)}</title>
          <StillGrowth
            growth={growth}
            hues={hues}
            unit={unit}
            x={positionOf(view, growth.time) * SIZE.width}
            y={growth.place.y * SIZE.height}
          />
        </a>
      ))}
    </svg>
  );
}

type Wave = readonly [height: number, length: number, start: number];

/**
 * How far each ridge is below the horizon, and its waves. Heights are parts of the picture's height, lengths
 * parts of its width, starts in radians.
 */
const RIDGES: readonly (readonly [below: number, ...waves: Wave[]])[] = [
  [-0.055, [0.035, 0.9, 0.6], [0.014, 0.31, 2.1], [0.005, 0.11, 0.4]],
  [-0.005, [0.026, 1.25, 3.4], [0.011, 0.42, 1.2], [0.004, 0.13, 2.8]],
  [0.045, [0.016, 1.7, 5.1], [0.008, 0.55, 0.2]],
  [0.24, [0.022, 1.4, 1.9], [0.01, 0.5, 4.2]],
];

/** From far to near: two ridges of hills, the ground, and its near half. */
function landOf({ width, height }: PictureSize): string[] {
  return RIDGES.map(([below, ...waves]) => {
    const points = Array.from({ length: 61 }, (_, index) => {
      const across = index / 60;
      const up = waves.reduce((sum, [size, length, start]) => {
        return sum + size * Math.sin((across / length) * 2 * Math.PI + start);
      }, 0);
      return `${Math.round(across * width)} ${Math.round((HORIZON + below - up) * height)}`;
    });
    return `M0 ${height}L${points.join('L')}L${width} ${height}Z`;
  });
}
