/**
 * Families of metrics whose values are read when somebody asks for them. prom-client prints them; the
 * values themselves are counted elsewhere.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { Buckets, HistogramValue } from './cells.ts';

type Labels = Readonly<Record<string, string>>;
export type Sample<Value> = readonly [labels: Labels, value: Value];
export type Samples<Value> = Iterable<Sample<Value>>;

export interface Family<Value> {
  readonly name: string;
  readonly help: string;
  /** Names of labels. */
  readonly labels?: readonly string[];
  /** No samples where nothing is known yet. */
  readonly read: () => Samples<Value> | Promise<Samples<Value>>;
}

export interface HistogramFamily extends Family<HistogramValue> {
  readonly buckets: Buckets;
}

/** Only grows while the gateway runs. */
export function addCounter(registry: Registry, family: Family<number>): void {
  const { name, help, labels = [], read } = family;
  const counter: Counter = new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const samples = await read();
      counter.reset();
      for (const [own, value] of samples) counter.inc(own, value);
    },
  });
}

export function addGauge(registry: Registry, family: Family<number>): void {
  const { name, help, labels = [], read } = family;
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const samples = await read();
      gauge.reset();
      // Without labels, that has set it to 0.
      if (labels.length === 0) gauge.remove({});
      for (const [own, value] of samples) gauge.set(own, value);
    },
  });
}

export function addHistogram(registry: Registry, family: HistogramFamily): void {
  registry.registerMetric(new ReadHistogram(family));
}

type HistogramObject = Awaited<ReturnType<Histogram['get']>>;

/** prom-client has no way to give a histogram the counts of its buckets. */
class ReadHistogram extends Histogram {
  readonly #family: HistogramFamily;
  readonly #empty: Histogram;

  constructor(family: HistogramFamily) {
    const { name, help, labels: labelNames = [], buckets } = family;
    const form = { name, help, labelNames, buckets: [...buckets.bounds], registers: [] };
    super(form);
    this.#family = family;
    this.#empty = new Histogram(form);
  }

  override async get(): Promise<HistogramObject> {
    const { name, buckets, read } = this.#family;
    const bounds = [...buckets.bounds, '+Inf'];
    const values: HistogramObject['values'] = [];
    for (const [labels, { cumulative, sum }] of await read()) {
      for (const [at, bound] of bounds.entries()) {
        const bucket = { le: bound, ...labels };
        values.push({ labels: bucket, value: cumulative[at] ?? 0, metricName: `${name}_bucket` });
      }
      values.push({ labels, value: sum, metricName: `${name}_sum` });
      values.push({ labels, value: cumulative.at(-1) ?? 0, metricName: `${name}_count` });
    }
    return { ...(await this.#empty.get()), values };
  }

  /** What the registry prints. */
  getForPromString(): Promise<HistogramObject> {
    return this.get();
  }
}
