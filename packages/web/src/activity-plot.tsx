/** Bars of how many entries were stored over time: in all, or by kind. Needs no scripts. */
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

interface PlotSeries {
  /** A kind, or `all`. */
  readonly name: string;
  /** What readers call its entries. */
  readonly label: string;
  /** One number for each span of time, from the oldest. */
  readonly counts: readonly number[];
}

interface ActivityPlotProps {
  readonly series: readonly PlotSeries[];
  readonly title: string;
  /** The plot in words, for readers who do not see it. */
  readonly description: string;
}

/** In units of the drawing, which is stretched to its place. */
const HEIGHT = 100;
const BAR_WIDTH = 10;
const BAR_GAP = 2;
/** Keeps a single entry visible among many. */
const LEAST_HEIGHT = 3;

export function ActivityPlot({ series, title, description }: ActivityPlotProps): VNode {
  const id = useId();
  const spans = series[0]?.counts.length ?? 0;
  const totals = Array.from({ length: spans }, (_, index) => totalAt(series, index));
  const most = Math.max(1, ...totals);
  return (
    <svg
      class="plot"
      role="img"
      aria-labelledby={`${id}-title ${id}-description`}
      viewBox={`0 0 ${spans * BAR_WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <title id={`${id}-title`}>{title}</title>
      <desc id={`${id}-description`}>{description}</desc>
      <path class="plot-ground" d={`M0 ${HEIGHT}h${spans * BAR_WIDTH}`} />
      {series.map(({ name }, index) => (
        <path key={name} class="plot-bars" data-kind={name} d={barsOf(series, index, most)} />
      ))}
    </svg>
  );
}

/** The bars of one series, on top of those of the series before it. */
function barsOf(series: readonly PlotSeries[], at: number, most: number): string {
  const counts = series[at]?.counts ?? [];
  return counts
    .map((count, index) => {
      if (count === 0) return '';
      const below = heightOf(totalAt(series.slice(0, at), index), most);
      const height = heightOf(totalAt(series.slice(0, at + 1), index), most) - below;
      const x = index * BAR_WIDTH + BAR_GAP / 2;
      const y = round(HEIGHT - below - height);
      return `M${x} ${y}h${BAR_WIDTH - BAR_GAP}v${round(height)}h${BAR_GAP - BAR_WIDTH}z`;
    })
    .join('');
}

/** Grows with the square root of the number, so that quiet times are visible beside busy ones. */
function heightOf(count: number, most: number): number {
  if (count === 0) return 0;
  return LEAST_HEIGHT + (HEIGHT - LEAST_HEIGHT) * Math.sqrt(count / most);
}

function totalAt(series: readonly PlotSeries[], index: number): number {
  return series.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
