/** Figures of several short rounds: on a busy machine a single one tells little. */

/** One figure for each round, of us and of the one beside us. */
export interface Rounds {
  readonly ours: readonly number[];
  readonly peer: readonly number[];
}

/** Takes turns, the peer first, so that whatever else the machine does falls on both. */
export async function takeTurns(
  rounds: number,
  side: { ours(): Promise<number>; peer(): Promise<number> },
): Promise<Rounds> {
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    peer.push(await side.peer());
    ours.push(await side.ours());
  }
  return { ours, peer };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which a share (0 … 1) of all lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
