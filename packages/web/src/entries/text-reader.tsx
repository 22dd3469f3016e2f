/** Reads a text of any length: loads the pieces around the view, and has a slider to any other. */
import type { TargetedEvent, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { type Chunk, type ListSource, type Sides, WindowedList } from '../list/windowed-list.tsx';
import type { EntryPage } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import type { TextPiece } from './entry-data.ts';
import { fetchPiece } from './long-text.tsx';
import { VisitorText } from './visitor-text.tsx';

interface TextReaderProps {
  readonly id: string;
  readonly piece: NonNullable<EntryPage['piece']>;
  /** The size of the entry, in bytes. */
  readonly size: number;
}

export function TextReader({ id, piece, size }: TextReaderProps): VNode {
  const shell = useShell();
  const words = useWords().entry;
  const { of, parts } = piece;
  const windowed = useRef<WindowedList<number, TextPiece>>(null);
  const [part, setPart] = useState(piece.part);
  const link = (number: number): string =>
    href(shell, addressWith(shell.url, { part: String(number) }));
  const sidesOf = (number: number): Sides => ({ before: number > 1, after: number < parts });
  const load = async (place: number): Promise<Chunk<number, TextPiece>> => {
    return { place, content: await fetchPiece(id, of, place) };
  };
  const source: ListSource<number, TextPiece> = {
    keyOf: (number) => number,
    async loadEdge(side, from = 1) {
      const place = side === 'before' ? from - 1 : from + 1;
      return { chunk: await load(place), more: sidesOf(place)[side] };
    },
  };
  const go = async (number: number): Promise<void> => {
    setPart(number);
    windowed.current?.reset(await load(number), sidesOf(number));
  };
  return (
    <div class="reader">
      {parts > 1 && (
        <form class="reader-place row quiet" method="get">
          {of === 'json' && <input type="hidden" name="of" value="json" />}
          <label>
            {words.part(part, parts)}{' '}
            <input
              type="range"
              name="part"
              min={1}
              max={parts}
              value={part}
              onInput={(event: TargetedEvent<HTMLInputElement>) =>
                setPart(Number(event.currentTarget.value))
              }
              onChange={(event: TargetedEvent<HTMLInputElement>) =>
                void go(Number(event.currentTarget.value))
              }
            />
          </label>
          <noscript>
            <button>{words.go}</button>
          </noscript>
          <span class="quiet">{words.size(size)}</span>
        </form>
      )}
      <WindowedList
        handle={windowed}
        source={source}
        chunks={[{ place: piece.part, content: piece }]}
        has={sidesOf(piece.part)}
        onRest={(element) => {
          const number = Number(element?.getAttribute('data-part') ?? piece.part);
          setPart(number);
          const address = addressWith(location.pathname + location.search, {
            part: number === 1 ? undefined : String(number),
          });
          if (address !== location.pathname + location.search) {
            history.replaceState(history.state, '', address);
          }
        }}
        renderContent={({ part, text }) => (
          <div class={of === 'text' ? 'entry-text' : 'entry-json'} data-part={part} dir="auto">
            {of === 'text' ? <VisitorText text={text} /> : text}
          </div>
        )}
        links={{
          before: { href: link(piece.part - 1), text: words.partBefore },
          after: { href: link(piece.part + 1), text: words.partAfter },
        }}
      />
    </div>
  );
}
