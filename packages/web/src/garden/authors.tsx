/** The legend of the garden: the main authors in view, each with the bloom of their plants. */
import type { VNode } from 'preact';

import { useWords } from '../shell.ts';
import { Isolated, visibleName } from '../visitor-name.tsx';
import { growBloom } from './growth/plant.ts';
import type { Author, ChosenAuthor, Hues } from './main-authors.ts';
import { Outlines } from './still-picture.tsx';

interface AuthorsProps {
  readonly authors: readonly Author[];
  readonly hues: Hues;
  /** Called with the author whose plants should stand out; with undefined to end that. */
  readonly onChoose?: ((author: ChosenAuthor | undefined) => void) | undefined;
  readonly chosen?: ChosenAuthor | undefined;
  readonly onFocus: (isWithin: boolean) => void;
}

export function Authors({ authors, hues, onChoose, chosen, onFocus }: AuthorsProps): VNode {
  const { garden } = useWords();
  return (
    <ul
      class="garden-authors"
      aria-label={garden.authors}
      onFocusIn={() => onFocus(true)}
      onFocusOut={({ currentTarget, relatedTarget }) =>
        onFocus(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))
      }
    >
      {authors.map((author) => {
        const isChosen = chosen !== undefined && chosen.name === author;
        const name = (
          <>
            <BloomSign author={author} hues={hues} />
            <Isolated text={visibleName(author ?? garden.unnamed)} />
          </>
        );
        return (
          <li key={author ?? ''}>
            {onChoose === undefined ? (
              <span>{name}</span>
            ) : (
              <button
                type="button"
                aria-pressed={isChosen}
                onClick={() => onChoose(isChosen ? undefined : { name: author })}
              >
                {name}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function BloomSign({ author, hues }: { author: Author; hues: Hues }): VNode {
  const growth = growBloom(author);
  const { height, reach } = growth;
  const half = Math.max(reach, height / 2);
  return (
    <svg
      class="garden-bloom"
      viewBox={`${-half} ${-height / 2 - half} ${2 * half} ${2 * half}`}
      aria-hidden="true"
    >
      <Outlines growth={growth} author={author} hues={hues} />
    </svg>
  );
}
