/** The newest entries as a drawing that needs no script, and the land that the canvas lies on. */
import type { VNode } from 'preact';

import type { GardenEntry } from '../page-data.ts';
import { href, useShell } from '../shell.ts';
import { landOf } from './backdrop.ts';
import { speciesOf } from './growth/species.ts';
import { grow } from './growth/grow.ts';
import { GREATEST, type Outline } from './growth/outline.ts';
import { type PictureSize, unitFor } from './place.ts';
import { type SceneGrowth, sceneOfEntries } from './scene.ts';
import { positionOf, wholeRange } from './time-view.ts';

const SIZE: PictureSize = { width: 1200, height: 560 };

/** Hues and depths that have a class in `garden.css`, in degrees. */
const HUE_STEP = 15;

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
  readonly label: string;
  /** The name of a growth: what it is, and whose. */
  readonly nameOf: (entry: GardenEntry) => string;
}

export function StillPicture({ entries, label, nameOf }: StillPictureProps): VNode {
  const shell = useShell();
  const times = entries.map(({ time }) => time);
  const view = wholeRange(Math.min(...times), Math.max(...times));
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
          <StillGrowth growth={growth} unit={unit} x={positionOf(view, growth.time) * SIZE.width} />
        </a>
      ))}
    </svg>
  );
}

interface StillGrowthProps {
  readonly growth: SceneGrowth;
  readonly unit: number;
  readonly x: number;
}

function StillGrowth({ growth: { entry, place }, unit, x }: StillGrowthProps): VNode {
  const { hue, leafHue } = speciesOf(entry.author);
  const scale = Math.round(((unit * place.scale) / GREATEST) * 1000) / 1000;
  const y = Math.round(place.y * SIZE.height);
  const hues = `hue-${stepOf(hue)} leaf-${stepOf(leafHue)}`;
  return (
    <g class={hues} transform={`translate(${Math.round(x)} ${y}) scale(${scale})`}>
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

function classOf({ tone, width }: Outline): string {
  return `${width === undefined ? 'fill' : 'line'} ${tone}`;
}

function stepOf(hue: number): number {
  return (Math.round(hue / HUE_STEP) * HUE_STEP) % 360;
}
