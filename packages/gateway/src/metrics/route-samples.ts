/** Samples of the requests of routes, without those that are 0. */
import type { HistogramValue } from './cells.ts';
import type { Sample } from './families.ts';
import type { RouteTotals } from './http-metrics.ts';

export function* requestSamples(totals: Iterable<RouteTotals>): Generator<Sample<number>> {
  for (const { method, route, statuses } of totals)
    for (const { status, count } of statuses)
      if (count > 0) yield [{ method, route, status }, count];
}

export function* abortedSamples(totals: Iterable<RouteTotals>): Generator<Sample<number>> {
  for (const { method, route, aborted } of totals)
    if (aborted > 0) yield [{ method, route }, aborted];
}

export function* durationSamples(totals: Iterable<RouteTotals>): Generator<Sample<HistogramValue>> {
  for (const { method, route, duration } of totals)
    if ((duration.cumulative.at(-1) ?? 0) > 0) yield [{ method, route }, duration];
}
