/** Families of metrics, whose values are read when somebody asks for them, in the text format of Prometheus. */
import type { Buckets, HistogramValue } from './cells.ts';

/** Their values need no escapes: none has a quote, a backslash or the end of a line. */
type Labels = Readonly<Record<string, string>>;
export type Sample<Value> = readonly [labels: Labels, value: Value];

/** One value without labels, or samples. Undefined where nothing is known yet. */
type Found = number | undefined | Iterable<Sample<number>>;
type Read = () => Found | Promise<Found>;

export class Families {
  readonly #families: (() => Promise<readonly string[]>)[] = [];

  /** Only grows while the gateway runs. */
  counter(name: string, help: string, read: Read): void {
    this.#add(name, 'counter', help, async () => linesOf(name, await read()));
  }

  gauge(name: string, help: string, read: Read): void {
    this.#add(name, 'gauge', help, async () => linesOf(name, await read()));
  }

  histogram(name: string, help: string, buckets: Buckets, read: () => HistogramValue): void {
    const bounds = [...buckets.bounds.map(String), '+Inf'];
    this.#add(name, 'histogram', help, async () => {
      const { cumulative, sum } = read();
      const samples = bounds.map((le, at) => [{ le }, cumulative[at] ?? 0] as const);
      return [
        ...linesOf(`${name}_bucket`, samples),
        ...linesOf(`${name}_sum`, sum),
        ...linesOf(`${name}_count`, cumulative.at(-1)),
      ];
    });
  }

  async print(): Promise<string> {
    const lines = await Promise.all(this.#families.map((family) => family()));
    return `${lines.flat().join('\n')}\n`;
  }

  #add(name: string, type: string, help: string, read: () => Promise<readonly string[]>): void {
    const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
    this.#families.push(async () => [...head, ...(await read())]);
  }
}

function linesOf(name: string, found: Found): string[] {
  if (found === undefined) return [];
  const samples: Iterable<Sample<number>> = typeof found === 'number' ? [[{}, found]] : found;
  return Array.from(samples, ([labels, value]) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text}"`);
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${value}`;
  });
}
