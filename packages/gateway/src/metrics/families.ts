/**
 * Families of metrics whose values are read when somebody asks for them. prom-client prints them; the
 * values themselves are counted elsewhere.
 */
import { Gauge, Registry } from 'prom-client';

import type { Buckets, HistogramValue } from './cells.ts';

type Labels = Readonly<Record<string, string>>;
export type Sample<Value> = readonly [labels: Labels, value: Value];

/** One value without labels, or samples. Undefined where nothing is known yet. */
type Found<Value> = Value | undefined | Iterable<Sample<Value>>;
export type Read<Value> = () => Found<Value> | Promise<Found<Value>>;

/** A value as it is printed. */
interface Printed {
  readonly labels: Labels;
  readonly value: number;
  readonly metricName?: string;
}

export class Families {
  readonly registry = new Registry();

  /** Only grows while the gateway runs. */
  counter(name: string, help: string, read: Read<number>): void {
    this.#add('counter', name, help, () => numbers(read));
  }

  gauge(name: string, help: string, read: Read<number>): void {
    this.#add('gauge', name, help, () => numbers(read));
  }

  histogram(name: string, help: string, buckets: Buckets, read: Read<HistogramValue>): void {
    const bounds = [...buckets.bounds.map(String), '+Inf'];
    this.#add('histogram', name, help, async () =>
      samplesIn(await read()).flatMap(([labels, { cumulative, sum }]) => [
        ...bounds.map((le, at) => {
          return {
            metricName: `${name}_bucket`,
            labels: { le, ...labels },
            value: cumulative[at] ?? 0,
          };
        }),
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: cumulative.at(-1) ?? 0 },
      ]),
    );
  }

  /** prom-client would count by itself: the registry only calls `get`. */
  #add(type: string, name: string, help: string, print: () => Promise<Printed[]>): void {
    const get = async (): Promise<object> => ({ type, name, help, values: await print() });
    const family = new Gauge({ name, help, registers: [] });
    this.registry.registerMetric(Object.assign(family, { get }));
  }
}

async function numbers(read: Read<number>): Promise<Printed[]> {
  return samplesIn(await read()).map(([labels, value]) => ({ labels, value }));
}

function samplesIn<Value extends number | HistogramValue>(found: Found<Value>): Sample<Value>[] {
  if (found === undefined) return [];
  return typeof found === 'object' && Symbol.iterator in found ? [...found] : [[{}, found]];
}
