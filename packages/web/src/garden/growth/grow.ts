/** Grows what an entry is in the picture. Pure: the same entry is the same growth on every device. */
import type { Kind } from '@open-presence/protocol';

import { growLight, growSeed, growWhisper } from './others.ts';
import type { Growth } from './outline.ts';
import { growPlant, type PlantSource } from './plant.ts';

const BY_KIND: Readonly<Record<Kind, (source: PlantSource) => Growth>> = {
  resonance: growLight,
  garden: growPlant,
  seeds: growSeed,
  shepit: growWhisper,
};

export function grow(kind: Kind, source: PlantSource): Growth {
  return BY_KIND[kind](source);
}
