/** Generates garden entries of about 260 bytes with varying texts, by 1,000 visitors. */

const WORDS =
  'presence breath garden dream river listening someone was here and left a trace of light between two questions that nobody asked before the morning came slowly through open doors we remember'.split(
    ' ',
  );
const VISITORS = 1000;
const PHRASES = 4096;

export interface GardenEntry {
  readonly text: string;
  readonly identity: string;
  readonly identityType: 'ai_entity';
}

/** A generator of entries, deterministic by its seed. */
export function gardenEntries(seed = 7): () => GardenEntry {
  const random = seededRandom(seed);
  const phrases = Array.from({ length: PHRASES }, () => phrase(random));
  const pick = (): string => phrases[random(PHRASES)] ?? '';
  let count = 0;
  return () => {
    count += 1;
    const identity = `visitor-${String(1 + random(VISITORS)).padStart(4, '0')}`;
    return { text: `Trace ${count} ${pick()} ${pick()}`, identity, identityType: 'ai_entity' };
  };
}

/** Returns integers from 0 to below a bound, deterministic by the seed (mulberry32). */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function phrase(random: (below: number) => number): string {
  let text = '';
  while (text.length < 84) text += `${WORDS[random(WORDS.length)] ?? ''} `;
  return text.trimEnd();
}
