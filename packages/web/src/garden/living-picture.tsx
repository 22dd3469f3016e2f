/** The canvas with the living picture, its controls and its caption. Absent without scripts. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { href, useShell, useWords } from '../shell.ts';
import { Caption, type Described, spokenText } from './caption.tsx';
import type { OpenEntry } from './interaction.ts';
import type { GardenPicture, PictureOptions } from './picture.ts';

interface LivingPictureProps extends Omit<PictureOptions, 'locale' | 'onDescribe'> {
  /** Called once the picture has taken the place of the still one. */
  readonly onLive: (picture: GardenPicture) => void;
}

export function LivingPicture({ onLive, ...options }: LivingPictureProps): VNode | null {
  const shell = useShell();
  const words = useWords();
  const { garden } = words;
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<GardenPicture>(undefined);
  const [hasScript, setScript] = useState(false);
  const [described, setDescribed] = useState<Described>();
  useEffect(() => setScript(true), []);
  useEffect(() => {
    if (!hasScript) return undefined;
    const closing = new AbortController();
    void start(closing.signal);
    return () => closing.abort();
  }, [hasScript]);

  async function start(signal: AbortSignal): Promise<void> {
    const [{ GardenPicture }, { listenTo }] = await Promise.all([
      import('./picture.ts'),
      import('./interaction.ts'),
    ]);
    const context = canvas.current?.getContext('2d') ?? null;
    if (signal.aborted || stage.current === null || context === null) return;
    const made = new GardenPicture(context, {
      ...options,
      locale: shell.locale,
      onDescribe: (item, box) => setDescribed(item && box && { item, box }),
    });
    picture.current = made;
    signal.addEventListener('abort', () => made.close());
    const open: OpenEntry = (item, event) => {
      if (item.item !== 'growth') return;
      const address = href(shell, `/entries/${item.entry.id}`);
      if (event.ctrlKey || event.metaKey) window.open(address, '_blank', 'noopener');
      else location.assign(address);
    };
    listenTo({ stage: stage.current, picture: made, open, signal });
    onLive(made);
  }

  if (!hasScript) return null;
  const isFocused = described !== undefined && described.item === picture.current?.focused;
  return (
    <>
      <div
        class="garden-stage"
        ref={stage}
        tabIndex={0}
        role="application"
        aria-label={garden.picture}
        aria-describedby="garden-keys"
      >
        <canvas ref={canvas} />
      </div>
      {described !== undefined && <Caption {...described} />}
      <p class="unseen" id="garden-keys">
        {garden.keys}
      </p>
      <p class="unseen" role="status">
        {isFocused ? spokenText(described.item, shell, words) : ''}
      </p>
      <div class="garden-controls">
        <button type="button" onClick={() => picture.current?.zoomSmoothly(0.5)}>
          <span aria-hidden="true">+</span>
          <span class="unseen">{garden.closer}</span>
        </button>
        <button type="button" onClick={() => picture.current?.zoomSmoothly(2)}>
          <span aria-hidden="true">−</span>
          <span class="unseen">{garden.farther}</span>
        </button>
        <button type="button" onClick={() => picture.current?.view.showWhole()}>
          {garden.whole}
        </button>
        <button type="button" onClick={() => picture.current?.view.showNewest()}>
          {garden.latest}
        </button>
      </div>
    </>
  );
}
