/** Figures from several short rounds, since one alone means little on a busy machine. */

/** One figure per round, of the gateway and of its peer. */
export interface Rounds {
  readonly ours: readonly number[];
  readonly peer: readonly number[];
}

/** Alternates between both, the peer first, so that other load on the machine affects both. */
export async function alternate(
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

/** `share`: from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
