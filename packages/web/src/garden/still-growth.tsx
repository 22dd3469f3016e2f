/** One growth as SVG, coloured by classes of `garden.css`. */
import type { VNode } from 'preact';

import { grow } from './growth/grow.ts';
import { GREATEST, type Outline } from './growth/outline.ts';
import { type Species, speciesOf } from './growth/species.ts';
import type { SceneGrowth } from './scene.ts';

/** Hues that have a class, in degrees. */
const HUE_STEP = 15;

interface StillGrowthProps {
  readonly growth: SceneGrowth;
  readonly unit: number;
  readonly x: number;
  readonly y: number;
}

export function StillGrowth({ growth: { entry, place }, unit, x, y }: StillGrowthProps): VNode {
  const scale = Math.round(((unit * place.scale) / GREATEST) * 1000) / 1000;
  return (
    <g
      class={huesOf(speciesOf(entry.author))}
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

/** The classes of a species. */
export function huesOf({ hue, leafHue }: Species): string {
  return `hue-${stepOf(hue)} leaf-${stepOf(leafHue)}`;
}

function stepOf(hue: number): number {
  return (Math.round(hue / HUE_STEP) * HUE_STEP) % 360;
}
