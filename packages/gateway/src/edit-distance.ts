/** How much two words, or two lists of them, differ. */

/** The cost of adding an element; removing one costs 1, replacing one at most 1. */
const ADDING = 0.5;

/** The least cost of removing, adding and replacing elements. */
function editDistance(
  from: readonly string[],
  to: readonly string[],
  replacing: (from: string, to: string) => number,
): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => ADDING * index);
  for (const [index, element] of from.entries()) {
    const next = [index + 1];
    for (const [at, other] of to.entries()) {
      const replaced = (row[at] ?? 0) + replacing(element, other);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + ADDING));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** From 0 for the same word to 1 for one that has nothing in common. */
export function wordDistance(word: string, known: string): number {
  if (word === known) return 0;
  const length = Math.max(word.length, known.length);
  if (2 * Math.min(word.length, known.length) < length) return 1;
  return editDistance(word.split(''), known.split(''), (a, b) => (a === b ? 0 : 1)) / length;
}

/** A distance that the words have at least, found quickly. */
export function leastWordDistance(word: string, known: string): number {
  let foreign = 0;
  for (let at = 0; at < word.length; at += 1) if (!known.includes(word.charAt(at))) foreign += 1;
  const added = ADDING * Math.abs(word.length - known.length);
  return Math.max(foreign, added) / Math.max(word.length, known.length);
}
