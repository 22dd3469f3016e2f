/**
 * Reports changes around the canvas until the signal aborts: its size, whether it is in sight, and what the
 * visitor prefers.
 */
import type { PictureSize } from '../place.ts';

interface CanvasEvents {
  readonly onResize: (size: PictureSize) => void;
  readonly onSight: (isInSight: boolean) => void;
  /** Called when the visitor prefers another colour scheme, or more or less motion. */
  readonly onAppearance: () => void;
}

export function watchCanvas(
  canvas: HTMLCanvasElement,
  signal: AbortSignal,
  { onResize, onSight, onAppearance }: CanvasEvents,
): void {
  const resized = new ResizeObserver(() => {
    onResize({ width: canvas.clientWidth, height: canvas.clientHeight });
  });
  resized.observe(canvas);
  const seen = new IntersectionObserver((changes) => {
    onSight(changes.at(-1)?.isIntersecting ?? true);
  });
  seen.observe(canvas);
  signal.addEventListener('abort', () => {
    resized.disconnect();
    seen.disconnect();
  });
  for (const query of ['(prefers-reduced-motion: reduce)', '(prefers-color-scheme: dark)'])
    matchMedia(query).addEventListener('change', onAppearance, { signal });
}
