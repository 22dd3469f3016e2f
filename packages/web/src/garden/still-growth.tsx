/** One growth as SVG, coloured by classes of `garden.css`. */
import type { VNode } from 'preact';

import { grow } from './growth/grow.ts';
import { GREATEST, type Outline } from './growth/outline.ts';
import { speciesOf } from './growth/species.ts';
import { type Author, hueOf, type Hues } from './main-authors.ts';
import type { SceneGrowth } from './scene.ts';

/** Hues that have a class, in degrees. */
const HUE_STEP = 15;

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
    <g
      class={hueClasses(entry.author, hues)}
      transform={`translate(${Math.round(x)} ${Math.round(y)}) scale(${scale})`}
    >
      {grow(entry.kind, entry).outlines.map((outline) => (
        <path
          key={`${outline.tone} ${outline.width ?? 0}`}
          class={classOf(outline)}
          d={outline.path}
          stroke-width={outline.width}
        />
      ))}
    </g>
  );
}

export function classOf({ tone, width }: Outline): string {
  return `${width === undefined ? 'fill' : 'line'} ${tone}`;
}

export function hueClasses(author: Author, hues: Hues): string {
  return `hue-${stepOf(hueOf(author, hues))} leaf-${stepOf(speciesOf(author).leafHue)}`;
}

function stepOf(hue: number): number {
  return (Math.round(hue / HUE_STEP) * HUE_STEP) % 360;
}
