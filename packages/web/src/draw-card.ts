/**
 * Draws preview cards: the pictures that other sites show with a link to a page, as PNG of 1200 by 630
 * pixels. A card takes a tenth of a second and tens of megabytes: draw it in a thread of its own. Uses no
 * font of the system.
 */
import { initWasm, Resvg } from '@resvg/resvg-wasm';

import { coloursOf } from './garden/colours.ts';
import type { GardenEntry } from './garden/garden-data.ts';
import { grow } from './garden/growth/grow.ts';
import { distinctHues } from './garden/main-authors.ts';
import type { Card } from './page-data.ts';
import { PAPER } from './web-manifest.ts';

const INK = '#ebe4d3';
const QUIET = '#aab5a6';
const AMBER = '#e9b363';
const LINE = '#2a3d3a';

/** In pixels. */
const LEFT = 72;
const TEXT_WIDTH = 690;
const GROUND = 560;
const ARCH_MIDDLE = 985;
/** A plant is at most this high, and reaches at most this far to either side. */
const PLANT_HEIGHT = 380;
const PLANT_REACH = 150;
const MAX_PLANTS = 3;
const DISTANCE = 95;

/** `wasm`: the module of resvg. `fontBuffers`: files of Literata. */
export async function cardDrawer(
  wasm: Uint8Array<ArrayBuffer>,
  fontBuffers: Uint8Array[],
): Promise<(card: Card) => Uint8Array> {
  await initWasm(wasm);
  const font = { fontBuffers, defaultFontFamily: 'Literata' };
  return (card) => new Resvg(svgOf(card), { font }).render().asPng();
}

function svgOf({ heading, text, by, where, service, plants }: Card): string {
  const lines: string[] = [];
  let y = 64;
  const write = (words: string, size: number, colour: string, maxLines: number): void => {
    for (const line of wrapped(drawable(words), size, maxLines)) {
      y += Math.round(size * 1.28);
      lines.push(textAt(y, size, colour, line));
    }
  };
  write(heading ?? '', 64, INK, 2);
  if (heading !== undefined) y += 14;
  const size = heading !== undefined ? 36 : text.length > 150 ? 40 : text.length > 60 ? 48 : 60;
  const end = by === undefined && where === undefined ? 530 : 470;
  const words = drawable(text) === '' && heading === undefined ? service : text;
  write(words, size, heading === undefined ? INK : QUIET, Math.floor((end - y) / (size * 1.28)));
  const [author = ''] = wrapped(drawable(by ?? ''), 34, 1);
  const [place = ''] = wrapped(drawable(where ?? ''), 26, 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">
<rect width="1200" height="630" fill="${PAPER.dark}"/>${ARCH}
<path d="M0 ${GROUND}h1200" stroke="${LINE}" stroke-width="2"/>${plantsOf(plants)}
${lines.join('')}${textAt(place === '' ? 540 : 506, 34, AMBER, author)}${textAt(540, 26, QUIET, place)}
${textAt(604, 24, QUIET, drawable(service))}</svg>`;
}

/** The gate of the icon, with light in it. */
const ARCH = `<defs><radialGradient id="light" cx=".5" cy=".62" r=".6"><stop offset="0" stop-color="${AMBER}" stop-opacity=".36"/><stop offset="1" stop-color="${AMBER}" stop-opacity="0"/></radialGradient></defs>
<g transform="translate(${ARCH_MIDDLE - 264} 2) scale(1.65)" fill="none" stroke="${AMBER}"><path d="M62 338V162a98 98 0 0 1 196 0v176" fill="url(#light)" stroke-width="2.2"/><path d="M46 338V162a114 114 0 0 1 228 0v176" opacity=".5"/></g>`;

function plantsOf(newest: readonly GardenEntry[]): string {
  const plants = newest.slice(0, MAX_PLANTS);
  const hues = distinctHues([...new Set(plants.map(({ author }) => author))]);
  const first = ARCH_MIDDLE - (DISTANCE * (plants.length - 1)) / 2;
  const share = plants.length > 1 ? 0.6 : 1;
  return plants
    .map((plant, at) => {
      const { kind, author } = plant;
      const growth = grow(kind, plant);
      const colourOf = coloursOf(author, 'night', hues);
      const paths = growth.outlines.map(({ tone, width, path }) => {
        const colour = rgbOf(colourOf(tone));
        return width === undefined
          ? `<path d="${path}" ${colour('fill')}/>`
          : `<path d="${path}" fill="none" ${colour('stroke')} stroke-width="${width}" stroke-linecap="round"/>`;
      });
      const { height, reach } = growth;
      const scale = share * Math.min(PLANT_HEIGHT / Math.max(height, 300), PLANT_REACH / reach);
      return `<g transform="translate(${Math.round(first + at * DISTANCE)} ${GROUND}) scale(${scale.toFixed(3)})">${paths.join('')}</g>`;
    })
    .join('');
}

/** Turns an `oklch` colour, which resvg does not know, into attributes with `rgb`. */
function rgbOf(oklch: string): (attribute: 'fill' | 'stroke') => string {
  const [lightness = 0, chroma = 0, hue = 0, alpha = 1] = (oklch.match(/[\d.]+/g) ?? []).map(
    Number,
  );
  const [a, b] = [
    chroma * Math.cos((hue * Math.PI) / 180),
    chroma * Math.sin((hue * Math.PI) / 180),
  ];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((value) => {
    const linear = Math.min(1, Math.max(0, value));
    const gamma = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.round(255 * gamma);
  });
  return (attribute) => `${attribute}="rgb(${channels.join(',')})" ${attribute}-opacity="${alpha}"`;
}

/** Characters that Literata lacks: other scripts, emoji, and those that are invisible. */
const MISSING =
  /[^\u0020-\u007e\u00a1-\u00ac\u00ae-\u02af\u0370-\u0377\u037a-\u03ff\u0400-\u052f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2116\u2122\u2191\u2193\u2212]+/g;

/**
 * The text on one line, without characters that would be drawn as boxes. Empty if more than half of its
 * letters are such characters.
 */
function drawable(text: string): string {
  const kept = text.normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(MISSING, '');
  const letters = (of: string): number => of.match(/\p{L}/gu)?.length ?? 0;
  return 2 * letters(kept) < letters(text) ? '' : kept.trim();
}

/** In parts of the font size: about a tenth more than most letters take, so that no line is too long. */
function widthOf(character: string): number {
  if (/[iljfItIіїІЇ1.,;:!'’()[\]|\- ]/.test(character)) return 0.34;
  if (/[mwMW@№…—%жшщюЖШЩЮ]/.test(character)) return 1.1;
  return /\p{Lu}/u.test(character) ? 0.8 : 0.58;
}

/** Breaks a text into lines, and long words into parts. An ellipsis ends the last line if there is more. */
function wrapped(text: string, size: number, maxLines: number): string[] {
  const room = TEXT_WIDTH / size;
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const whole of text.match(/\S+ */g) ?? []) {
    const parts = lengthOf(whole) > room ? (whole.match(/.{1,4}/g) ?? []) : [whole];
    for (const word of parts) {
      const wanted = lengthOf(word.trimEnd());
      if (width + wanted > room && line !== '') {
        lines.push(line.trimEnd());
        if (lines.length === maxLines) return withEllipsis(lines);
        line = '';
        width = 0;
      }
      line += word;
      width += wanted + (word.endsWith(' ') ? 0.3 : 0);
    }
  }
  return line.trim() === '' || maxLines < 1 ? lines : [...lines, line.trimEnd()];
}

function lengthOf(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + widthOf(character), 0);
}

function withEllipsis(lines: readonly string[]): string[] {
  const last = lines.at(-1) ?? '';
  return [...lines.slice(0, -1), `${last.replace(/[\s.,;:!?—-]*.{0,1}$/, '')}…`];
}

function textAt(y: number, size: number, colour: string, text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${LEFT}" y="${y}" font-family="Literata" font-size="${size}" fill="${colour}">${escaped}</text>`;
}
