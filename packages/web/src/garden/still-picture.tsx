/** Growths as drawings that need no script, and the land that the canvas lies on. */
import { isolated } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { href, useShell, useWords } from '../shell.ts';
import { coloursOf } from './colours.ts';
import type { GardenEntry } from './garden-data.ts';
import { grow } from './growth/grow.ts';
import { type Growth, GREATEST } from './growth/outline.ts';
import { type Author, distinctHues, type Hues } from './main-authors.ts';
import { HORIZON, type PictureSize, unitFor } from './place.ts';
import { sceneOf } from './scene.ts';
import { visibleName } from '../visitor-name.tsx';

const SIZE: PictureSize = { width: 1200, height: 560 };
/** The widest strip that a page shows. A narrower one shows the newest plants, in full height. */
const STRIP: PictureSize = { width: 1200, height: 256 };

interface PlantsProps {
  readonly entries: readonly GardenEntry[];
  readonly label: string;
}

/** A small garden of some entries. */
export function Plants({ entries, label }: PlantsProps): VNode {
  return (
    <div class="garden-picture plants" data-fresh="plants">
      <Land />
      {entries.length > 0 && (
        <StillPicture entries={entries} hues={distinctHues([])} label={label} size={STRIP} />
      )}
    </div>
  );
}

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
  readonly size?: PictureSize;
}

export function StillPicture({ entries, hues, label, size = SIZE }: StillPictureProps): VNode {
  const shell = useShell();
  const { garden } = useWords();
  const unit = unitFor(size, entries.length);
  const growths = sceneOf(entries).toSorted((a, b) => a.place.depth - b.place.depth);
  return (
    <svg
      class="growths"
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="xMaxYMax slice"
      role="group"
      aria-label={label}
    >
      {growths.map(({ entry, place, across }) => {
        const { id, kind, author } = entry;
        const x = Math.round(across * size.width);
        const y = Math.round(place.y * size.height);
        const scale = Math.round(((unit * place.scale) / GREATEST) * 1000) / 1000;
        return (
          <a key={id} href={href(shell, `/entries/${id}`)} tabIndex={-1}>
            <title>{`${shell.kinds[kind].name}, ${isolated(visibleName(author ?? garden.unnamed))}`}</title>
            <g transform={`translate(${x} ${y}) scale(${scale})`}>
              <Outlines growth={grow(kind, entry)} author={author} hues={hues} />
            </g>
          </a>
        );
      })}
    </svg>
  );
}

interface OutlinesProps {
  readonly growth: Growth;
  readonly author: Author;
  readonly hues: Hues;
}

export function Outlines({ growth, author, hues }: OutlinesProps): VNode {
  const colourOf = coloursOf(author, undefined, hues);
  return (
    <>
      {growth.outlines.map(({ tone, width, path }) => (
        <path
          key={`${tone} ${width ?? 0}`}
          d={path}
          {...{ [width === undefined ? 'fill' : 'stroke']: colourOf(tone) }}
          stroke-width={width}
        />
      ))}
    </>
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
