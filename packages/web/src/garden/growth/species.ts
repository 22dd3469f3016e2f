/** The species of an author: everything that all of their plants have in common. */
import { between, hashOf, randomFrom } from './random.ts';

export type Leaf = 'lance' | 'oval' | 'heart' | 'needle';
export type Bloom = 'star' | 'umbel' | 'bell' | 'globe' | 'cup' | 'spire' | 'bud';

/** How a plant branches. Angles are in radians. */
interface Habit {
  /** Stems from the ground: the fewest and the most. */
  readonly stems: readonly [number, number];
  /** Angle between the outermost stems. */
  readonly spread: number;
  /** How much a stem turns outward and down on its way. */
  readonly droop: number;
  readonly branching: number;
  readonly branchAngle: number;
  /** Length of a leaf in parts of the stem; 0 for no leaves. */
  readonly leafLength: number;
  readonly bloom: Bloom;
  readonly bloomSize: number;
}

export interface Species {
  /** The hue of the blooms, in degrees. */
  readonly hue: number;
  /** The hue of stems and leaves: a green, or near one. */
  readonly leafHue: number;
  readonly leaf: Leaf;
  readonly habit: Habit;
}

/** The members of a habit, in their order. */
type HabitRow = readonly [[number, number], number, number, number, number, number, Bloom, number];

const HABITS: readonly Habit[] = (
  [
    [[2, 4], 0.9, 0.25, 0.1, 0.5, 0.16, 'star', 0.105], // Daisies
    [[1, 2], 0.4, 0.1, 0.34, 0.55, 0.13, 'umbel', 0.17], // Cow parsley
    [[2, 3], 0.8, 1.15, 0.12, 0.7, 0.15, 'bell', 0.1], // Bellflowers
    [[1, 3], 0.5, 0.12, 0, 0, 0.3, 'globe', 0.13], // Alliums
    [[1, 3], 0.55, 0.2, 0, 0, 0.34, 'cup', 0.13], // Tulips
    [[1, 3], 0.5, 0.15, 0.05, 0.4, 0.17, 'spire', 0.3], // Lupins
    [[2, 3], 0.8, 0.35, 0.62, 0.72, 0.1, 'bud', 0.05], // Shrubs
    [[3, 5], 1.6, 0.95, 0, 0, 0.2, 'bud', 0.035], // Ferns
  ] satisfies HabitRow[]
).map(habitOf);

const LEAVES: readonly Leaf[] = ['lance', 'oval', 'heart', 'needle'];

/** The species of authors who gave no name: grass. */
const UNNAMED: Species = {
  hue: 95,
  leafHue: 125,
  leaf: 'needle',
  habit: habitOf([[3, 5], 0.8, 0.5, 0, 0, 0.22, 'spire', 0.16]),
};

function habitOf([stems, spread, droop, ...row]: HabitRow): Habit {
  const [branching, branchAngle, leafLength, bloom, bloomSize] = row;
  return { stems, spread, droop, branching, branchAngle, leafLength, bloom, bloomSize };
}

/** The same author has the same species on every device. */
export function speciesOf(author: string | undefined): Species {
  if (author === undefined) return UNNAMED;
  const random = randomFrom(hashOf(`species ${author}`));
  const habit = HABITS[Math.floor(random() * HABITS.length)] ?? UNNAMED.habit;
  return {
    hue: Math.floor(random() * 360),
    leafHue: Math.floor(between(random, 112, 172)),
    leaf: LEAVES[Math.floor(random() * LEAVES.length)] ?? 'oval',
    habit,
  };
}
