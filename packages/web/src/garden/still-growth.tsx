/** Growths as SVG. */
import type { VNode } from 'preact';

import { coloursOf } from './colours.ts';
import { grow } from './growth/grow.ts';
import { type Growth, GREATEST } from './growth/outline.ts';
import type { Author, Hues } from './main-authors.ts';
import type { SceneGrowth } from './scene.ts';

interface StillGrowthProps {
  readonly growth: SceneGrowth;
  readonly hues: Hues;
  readonly unit: number;
  readonly x: number;
  readonly y: number;
}

export function StillGrowth({ growth, hues, unit, x, y }: StillGrowthProps): VNode {
  const { entry, place } = growth;
  const scale = Math.round(((unit * place.scale) / GREATEST) * 1000) / 1000;
  return (
    <g transform={`translate(${Math.round(x)} ${Math.round(y)}) scale(${scale})`}>
      <Outlines growth={grow(entry.kind, entry)} author={entry.author} hues={hues} />
    </g>
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
