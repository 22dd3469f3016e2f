/** Finds the item at a point of the picture. */
import type { Box } from './painter.ts';
import type { Scene, SceneItem } from '../scene.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}

/** The growth whose middle is nearest, with a preference for growths in front; else the meadow. */
export function itemAt(
  { growths, meadows }: Scene,
  boxOf: (item: SceneItem) => Box,
  place: Place,
): SceneItem | undefined {
  let nearest: SceneItem | undefined;
  let least = Infinity;
  for (const growth of growths) {
    const { across, down } = within(boxOf(growth), place);
    if (Math.abs(across) > 0.5 || Math.abs(down) > 0.5) continue;
    const distance = Math.abs(across) + 0.5 * Math.abs(down) - 0.15 * growth.place.depth;
    if (distance > least) continue;
    nearest = growth;
    least = distance;
  }
  return (
    nearest ??
    meadows.find((meadow) => {
      const { across, down } = within(boxOf(meadow), place);
      return Math.abs(across) <= 0.5 && Math.abs(down) <= 0.5;
    })
  );
}

/** How far a place is from the middle of a box, in parts of the box. */
function within({ x, y, width, height }: Box, place: Place): { across: number; down: number } {
  return { across: (place.x - x) / width - 0.5, down: (place.y - y) / height - 0.5 };
}
