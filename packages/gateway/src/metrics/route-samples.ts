/** Samples of what all threads have counted of their routes: those with the same labels as one. */
import { type HistogramValue, sumOf } from './cells.ts';
import type { Samples } from './families.ts';
import type { RouteTotals } from './http-metrics.ts';

type Sample = [labels: Record<string, string>, value: number];

export function requestSamples(totals: readonly RouteTotals[]): Samples<number> {
  return sumSamples(
    totals.flatMap(({ method, route, statuses }) =>
      statuses.map(({ status, count }): Sample => [{ method, route, status }, count]),
    ),
  );
}

export function abortedSamples(totals: readonly RouteTotals[]): Samples<number> {
  return sumSamples(
    totals.map(({ method, route, aborted }): Sample => [{ method, route }, aborted]),
  );
}

/** Without those that are 0. */
function sumSamples(samples: readonly Sample[]): Samples<number> {
  const sums = new Map<string, Sample>();
  for (const [labels, value] of samples) {
    if (value === 0) continue;
    const key = JSON.stringify(labels);
    sums.set(key, [labels, value + (sums.get(key)?.[1] ?? 0)]);
  }
  return sums.values();
}

export function* durationSamples(
  totals: readonly RouteTotals[],
): Generator<[labels: Record<string, string>, value: HistogramValue], void, undefined> {
  const groups = Map.groupBy(totals, ({ method, route }) => `${method} ${route}`);
  for (const group of groups.values()) {
    const duration = sumOf(group.map((totals) => totals.duration));
    const [{ method, route } = { method: '', route: '' }] = group;
    if ((duration.cumulative.at(-1) ?? 0) > 0) yield [{ method, route }, duration];
  }
}
