/** A small garden of some entries. The server draws it, and the script leaves it as it is. */
import { isolated } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { useShell, useWords } from '../shell.ts';
import type { GardenEntry } from './garden-data.ts';
import { distinctHues } from './main-authors.ts';
import { Land, StillPicture } from './still-picture.tsx';

interface PlantsProps {
  /** Missing in the browser. */
  readonly entries: readonly GardenEntry[] | undefined;
  readonly label: string;
}

/** Preact keeps the children that the server gave to an element with HTML of its own. */
const AS_IT_IS = { __html: '' };

export function Plants({ entries = [], label }: PlantsProps): VNode {
  const shell = useShell();
  const { garden } = useWords();
  if (!import.meta.env.SSR)
    return <div class="garden-picture plants" dangerouslySetInnerHTML={AS_IT_IS} />;
  return (
    <div class="garden-picture plants">
      <Land />
      {entries.length > 0 && (
        <StillPicture
          entries={entries}
          hues={distinctHues([])}
          label={label}
          nameOf={({ kind, author }) =>
            `${shell.kinds[kind].name}, ${isolated(author ?? garden.unnamed)}`
          }
        />
      )}
    </div>
  );
}
