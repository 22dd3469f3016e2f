/** Colours of growths: hues come from their species, lightness from day or night. */
import type { Tone } from './growth/outline.ts';
import { speciesOf } from './growth/species.ts';
import { type Author, hueOf, type Hues } from './main-authors.ts';

export type Daytime = 'day' | 'night';

/** Lightness and chroma. */
const SHADES: Readonly<Record<Daytime, Readonly<Record<Exclude<Tone, 'ring'>, string>>>> = {
  day: {
    stem: '0.44 0.065',
    leaf: '0.53 0.085',
    petal: '0.64 0.125',
    core: '0.82 0.12',
    glow: '0.8 0.1',
  },
  night: {
    stem: '0.5 0.06',
    leaf: '0.57 0.08',
    petal: '0.77 0.115',
    core: '0.9 0.1',
    glow: '0.85 0.1',
  },
};

/** In degrees. */
const CORE_HUE = 85;

/**
 * The colours of an author's growths by tone, in CSS syntax. Without a daytime, they use properties of
 * `garden.css`, which follow the colour scheme of the page.
 */
export function coloursOf(
  author: Author,
  daytime: Daytime | undefined,
  hues: Hues,
): (tone: Tone) => string {
  const { leafHue } = speciesOf(author);
  const hue = hueOf(author, hues);
  const byTone = { stem: leafHue, leaf: leafHue, petal: hue, glow: hue, core: CORE_HUE };
  const alphas: Partial<Record<Tone, string>> = {
    ring: ' / 0.5',
    glow: daytime === undefined ? ' / 0.1' : ' / 0.25',
  };
  return (tone) => {
    const shaded = tone === 'ring' ? 'petal' : tone;
    const shade = daytime === undefined ? `var(--${shaded})` : SHADES[daytime][shaded];
    return `oklch(${shade} ${byTone[shaded]}${alphas[tone] ?? ''})`;
  };
}
