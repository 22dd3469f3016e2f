/** Garden entries as visitors leave them: about 260 bytes, texts that vary, 1,000 names. */

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

/** The same entries in the same order each time, for one seed. */
export function gardener(seed = 7): () => GardenEntry {
  const random = dice(seed);
  const phrases = Array.from({ length: PHRASES }, () => phrase(random));
  const pick = (): string => phrases[random(PHRASES)] ?? '';
  let count = 0;
  return () => {
    count += 1;
    const identity = `visitor-${String(1 + random(VISITORS)).padStart(4, '0')}`;
    return { text: `Trace ${count} ${pick()} ${pick()}`, identity, identityType: 'ai_entity' };
  };
}

/** Whole numbers from 0 to below a bound, the same each time (mulberry32). */
export function dice(seed: number): (below: number) => number {
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
