/** Results of rows, and the table that shows them. */
import { median, type Rounds } from './rounds.ts';

export interface ResultLine {
  readonly label: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly target: string;
  /** Undefined without a target. */
  readonly met: boolean | undefined;
  readonly rounds?: Rounds;
}

export type Unit = 'requests/s' | 'entries/s' | 'events/s' | 'MB/s' | 'ms' | 'µs';

const NONE = '–';

/** More is better: ours divided by the peer's. */
export function atLeast(what: string, rounds: Rounds, unit: Unit, target: number): ResultLine {
  const line = ratioOnly(what, rounds, unit);
  const ratio = median(rounds.ours) / median(rounds.peer);
  return { ...line, target: `≥ ${target}`, met: ratio >= target };
}

/** A ratio without a target. */
export function ratioOnly(what: string, rounds: Rounds, unit: Unit): ResultLine {
  const ratio = median(rounds.ours) / median(rounds.peer);
  const each = rounds.ours.map((ours, round) => ours / (rounds.peer[round] ?? Number.NaN));
  return { ...compare(what, rounds, unit, ratio), ratio: withRange(ratio, each) };
}

/** Less time is better: our time divided by the peer's. */
export function atMostTime(what: string, rounds: Rounds, unit: Unit, target: number): ResultLine {
  const isTime = unit === 'ms' || unit === 'µs';
  const time = (figure: number): number => (isTime ? figure : 1 / figure);
  const ratio = time(median(rounds.ours)) / time(median(rounds.peer));
  const each = rounds.ours.map(
    (value, round) => time(value) / time(rounds.peer[round] ?? Number.NaN),
  );
  const common = compare(what, rounds, unit, ratio);
  return { ...common, ratio: withRange(ratio, each), target: `≤ ${target}`, met: ratio <= target };
}

/** An amount of memory in bytes, with or without a limit. */
export function memory(
  what: string,
  bytes: number,
  limit?: { bytes: number; text: string },
): ResultLine {
  return {
    label: what,
    ours: mebibytes(bytes),
    peer: NONE,
    ratio: NONE,
    target: limit === undefined ? NONE : `≤ ${limit.text}`,
    met: limit === undefined ? undefined : bytes <= limit.bytes,
  };
}

/** The median of some figures, with a limit. */
export function atMost(
  what: string,
  figures: readonly number[],
  limit: number,
  unit: 'ms' | '% of a core',
): ResultLine {
  const figure = median(figures);
  const ours = `${figure.toLocaleString('en', { maximumSignificantDigits: 3 })} ${unit}`;
  const target = `≤ ${limit} ${unit}`;
  return { label: what, ours, peer: NONE, ratio: NONE, target, met: figure <= limit };
}

/** A figure without a ratio or a target. */
export function information(what: string, ours: string, peer: string = NONE): ResultLine {
  return { label: what, ours, peer, ratio: NONE, target: NONE, met: undefined };
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

export function printTable(lines: readonly ResultLine[]): string {
  const head = ['what', 'ours', 'beside', 'ratio (rounds)', 'target', 'met'];
  const rows = lines.map(({ label: what, ours, peer, ratio, target, met }) => {
    const judged = met === undefined ? '' : met ? 'yes' : 'NO';
    return [what, ours, peer, ratio, target, judged];
  });
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const text = all.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return text
    .toSpliced(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
    .map((row) => row.trimEnd())
    .join('\n');
}

function compare(what: string, rounds: Rounds, unit: Unit, ratio: number): ResultLine {
  if (!Number.isFinite(ratio)) throw new Error(`Cannot compare "${what}": a figure is missing`);
  const digits = unit === 'µs' ? 2 : 0;
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const show = (values: readonly number[]): string =>
    `${median(values).toLocaleString('en', places)} ${unit}`;
  const figures = { ours: show(rounds.ours), peer: show(rounds.peer), rounds };
  return { label: what, ...figures, ratio: NONE, target: NONE, met: undefined };
}

function withRange(ratio: number, each: readonly number[]): string {
  const range = [Math.min(...each), Math.max(...each)].map((value) => value.toFixed(2)).join('–');
  return `${ratio.toFixed(2)} (${range})`;
}
