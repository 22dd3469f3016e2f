/** The canvas with the living picture, its controls and its caption. Absent without scripts. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { GardenPage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { Caption, type Described, spokenText } from './caption.tsx';
import type { GardenEntry } from './garden-data.ts';
import type { OpenEntry } from './interaction.ts';
import type { Author } from './main-authors.ts';
import type { GardenPicture } from './picture.ts';

interface LivingPictureProps {
  readonly data: GardenPage;
  /** Called once the picture has taken the place of the still one. */
  readonly onLive: (picture: GardenPicture) => void;
  /** Called when the view has come to rest. */
  readonly onRest: (picture: GardenPicture) => void;
  readonly onAuthors: (authors: readonly Author[]) => void;
  readonly onEntries: (entries: readonly GardenEntry[]) => void;
}

export function LivingPicture(props: LivingPictureProps): VNode | null {
  const { data, onLive, onRest, onAuthors, onEntries } = props;
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
    if (signal.aborted || stage.current === null || canvas.current === null || context === null)
      return;
    const { entries, activity, silences } = data;
    const made = new GardenPicture(context, {
      canvas: canvas.current,
      locale: shell.locale,
      entries,
      activity,
      silences,
      onDescribe: (item, box) => setDescribed(item && box && { item, box }),
      onRest,
      onAuthors,
      onEntries,
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
