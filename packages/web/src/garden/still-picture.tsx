/** The newest entries as a drawing that needs no script, and the land that the canvas lies on. */
import type { VNode } from 'preact';

import { href, useShell } from '../shell.ts';
import { landOf } from './backdrop.ts';
import type { GardenEntry } from './garden-data.ts';
import type { Hues } from './main-authors.ts';
import { type PictureSize, unitFor } from './place.ts';
import { sceneOfEntries } from './scene.ts';
import { StillGrowth } from './still-growth.tsx';
import { positionOf, wholeRange } from './time-view.ts';

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
  const view = wholeRange(Math.min(...times), Math.max(...times), SIZE.width);
  const unit = unitFor(SIZE, entries.length);
  return (
    <svg
      class="growths"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      preserveAspectRatio="xMaxYMax slice"
      role="group"
      aria-label={label}
    >
      {sceneOfEntries(entries).growths.map((growth) => (
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
