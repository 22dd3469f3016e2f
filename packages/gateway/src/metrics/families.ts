/**
 * Families of metrics whose values are read when somebody asks for them. prom-client prints them; the
 * values themselves are counted elsewhere.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { Buckets, HistogramValue } from './cells.ts';

type Labels = Readonly<Record<string, string>>;
export type Sample<Value> = readonly [labels: Labels, value: Value];
type Read<Value> = () => Iterable<Sample<Value>> | Promise<Iterable<Sample<Value>>>;

/** What a family has. No samples where nothing is known yet. */
export interface Samples<Value> {
  /** Names of labels. */
  readonly labels?: readonly string[];
  readonly read: Read<Value>;
}

export class Families {
  readonly registry = new Registry();

  /** Only grows while the gateway runs. */
  counter(name: string, help: string, { labels = [], read }: Samples<number>): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      async collect() {
        const samples = await read();
        counter.reset();
        for (const [own, value] of samples) counter.inc(own, value);
      },
    });
  }

  gauge(name: string, help: string, { labels = [], read }: Samples<number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      async collect() {
        const samples = await read();
        gauge.reset();
        // Without labels, that has set it to 0.
        if (labels.length === 0) gauge.remove({});
        for (const [own, value] of samples) gauge.set(own, value);
      },
    });
  }

  histogram(name: string, help: string, buckets: Buckets, samples: Samples<HistogramValue>): void {
    const { labels: labelNames = [], read } = samples;
    const form = { name, help, labelNames, buckets: [...buckets.bounds], registers: [] };
    this.registry.registerMetric(new ReadHistogram(form, read));
  }
}

type HistogramObject = Awaited<ReturnType<Histogram['get']>>;

type Form = ConstructorParameters<typeof Histogram>[0];

/** prom-client has no way to give a histogram the counts of its buckets. */
class ReadHistogram extends Histogram {
  readonly #form: Form;
  readonly #read: Read<HistogramValue>;

  constructor(form: Form, read: Read<HistogramValue>) {
    super(form);
    this.#form = form;
    this.#read = read;
  }

  override async get(): Promise<HistogramObject> {
    const { name, buckets = [] } = this.#form;
    const bounds = [...buckets, '+Inf'];
    const values: HistogramObject['values'] = [];
    for (const [labels, { cumulative, sum }] of await this.#read()) {
      for (const [at, bound] of bounds.entries()) {
        const bucket = { le: bound, ...labels };
        values.push({ labels: bucket, value: cumulative[at] ?? 0, metricName: `${name}_bucket` });
      }
      values.push({ labels, value: sum, metricName: `${name}_sum` });
      values.push({ labels, value: cumulative.at(-1) ?? 0, metricName: `${name}_count` });
    }
    return { ...(await new Histogram(this.#form).get()), values };
  }

  /** What the registry prints. */
  getForPromString(): Promise<HistogramObject> {
    return this.get();
  }
}
