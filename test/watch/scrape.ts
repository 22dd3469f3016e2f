/** The metrics of a gateway, read as Prometheus reads them. */
import { until } from '../../conformance/until.ts';

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

const SAMPLE = /^(?<name>[a-z_:]\w*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/i;
const LABEL = /(\w+)="([^"]*)"/g;

export class Scrape {
  readonly text: string;
  readonly #samples: readonly Sample[];

  constructor(text: string) {
    this.text = text;
    this.#samples = text.split('\n').flatMap((line) => {
      const { name = '', labels = '', value } = SAMPLE.exec(line)?.groups ?? {};
      if (value === undefined) return [];
      const pairs = [...labels.matchAll(LABEL)].map(
        ([, key = '', text = '']) => [key, text] as const,
      );
      return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
    });
  }

  /** The names of families, such as that of a histogram. */
  get families(): readonly string[] {
    return [...this.text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  }

  /** The sum of the samples that have these labels. */
  value(name: string, labels: Labels = {}): number {
    const matching = this.#samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return matching.reduce((total, { value }) => total + value, 0);
  }

  labelValues(label: string): ReadonlySet<string> {
    return new Set(this.#samples.flatMap(({ labels }) => labels[label] ?? []));
  }
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(await response.text());
  return new Scrape(await response.text());
}

/** Scrapes until the value meets the condition. */
export async function untilValue(
  url: string,
  [name, labels]: readonly [name: string, labels?: Labels],
  isMet: (value: number) => boolean,
): Promise<Scrape> {
  return await until(
    () => scrape(url),
    (found) => isMet(found.value(name, labels)),
    (found) => `${name} ${JSON.stringify(labels ?? {})} is ${found.value(name, labels)}`,
  );
}
