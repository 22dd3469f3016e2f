/** What all plants of one author have in common. */
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
  /** How likely a branch is at each node. */
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

const HABITS: readonly Habit[] = [
  // Daisies
  {
    stems: [2, 4],
    spread: 0.9,
    droop: 0.25,
    branching: 0.1,
    branchAngle: 0.5,
    leafLength: 0.16,
    bloom: 'star',
    bloomSize: 0.105,
  },
  // Cow parsley
  {
    stems: [1, 2],
    spread: 0.4,
    droop: 0.1,
    branching: 0.34,
    branchAngle: 0.55,
    leafLength: 0.13,
    bloom: 'umbel',
    bloomSize: 0.17,
  },
  // Bellflowers
  {
    stems: [2, 3],
    spread: 0.8,
    droop: 1.15,
    branching: 0.12,
    branchAngle: 0.7,
    leafLength: 0.15,
    bloom: 'bell',
    bloomSize: 0.1,
  },
  // Alliums
  {
    stems: [1, 3],
    spread: 0.5,
    droop: 0.12,
    branching: 0,
    branchAngle: 0,
    leafLength: 0.3,
    bloom: 'globe',
    bloomSize: 0.13,
  },
  // Tulips
  {
    stems: [1, 3],
    spread: 0.55,
    droop: 0.2,
    branching: 0,
    branchAngle: 0,
    leafLength: 0.34,
    bloom: 'cup',
    bloomSize: 0.13,
  },
  // Lupins
  {
    stems: [1, 3],
    spread: 0.5,
    droop: 0.15,
    branching: 0.05,
    branchAngle: 0.4,
    leafLength: 0.17,
    bloom: 'spire',
    bloomSize: 0.3,
  },
  // Shrubs
  {
    stems: [2, 3],
    spread: 0.8,
    droop: 0.35,
    branching: 0.62,
    branchAngle: 0.72,
    leafLength: 0.1,
    bloom: 'bud',
    bloomSize: 0.05,
  },
  // Ferns
  {
    stems: [3, 5],
    spread: 1.6,
    droop: 0.95,
    branching: 0,
    branchAngle: 0,
    leafLength: 0.2,
    bloom: 'bud',
    bloomSize: 0.035,
  },
];

const LEAVES: readonly Leaf[] = ['lance', 'oval', 'heart', 'needle'];

/** Grass between the plants of those who gave no name. */
const UNNAMED: Species = {
  hue: 95,
  leafHue: 125,
  leaf: 'needle',
  habit: {
    stems: [3, 5],
    spread: 0.8,
    droop: 0.5,
    branching: 0,
    branchAngle: 0,
    leafLength: 0.22,
    bloom: 'spire',
    bloomSize: 0.16,
  },
};

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
