/** Colours of growths: hues come from their species, lightness from day or night. */
import type { Tone } from './growth/outline.ts';
import { type Species, speciesOf } from './growth/species.ts';
import { type Author, hueOf, type Hues } from './main-authors.ts';

export type Daytime = 'day' | 'night';

type Shade = readonly [lightness: number, chroma: number];

const SHADES: Readonly<Record<Daytime, Readonly<Record<Exclude<Tone, 'glow' | 'ring'>, Shade>>>> = {
  day: { stem: [0.44, 0.065], leaf: [0.53, 0.085], petal: [0.64, 0.125], core: [0.82, 0.12] },
  night: { stem: [0.5, 0.06], leaf: [0.57, 0.08], petal: [0.77, 0.115], core: [0.9, 0.1] },
};

/** In degrees. */
const CORE_HUE = 85;

/** The colours of an author's growths, by tone, as CSS has them. */
export function coloursOf(author: Author, daytime: Daytime, hues: Hues): (tone: Tone) => string {
  const species = { ...speciesOf(author), hue: hueOf(author, hues) };
  return (tone) => toneOf(species, tone, daytime);
}

function toneOf(
  { hue, leafHue }: Pick<Species, 'hue' | 'leafHue'>,
  tone: Tone,
  daytime: Daytime,
): string {
  if (tone === 'glow') return `oklch(${daytime === 'day' ? 0.8 : 0.85} 0.1 ${hue} / 0.25)`;
  if (tone === 'ring') return toneOf({ hue, leafHue }, 'petal', daytime).replace(')', ' / 0.5)');
  const [lightness, chroma] = SHADES[daytime][tone];
  const toneHue = tone === 'petal' ? hue : tone === 'core' ? CORE_HUE : leafHue;
  return `oklch(${lightness} ${chroma} ${toneHue})`;
}
