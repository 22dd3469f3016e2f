/** The title of a room as the API gives it, with a translation where a reader may need one. */
import type { VNode } from 'preact';

import type { RoomName } from './page-data.ts';
import { useShell } from './shell.ts';

export function RoomTitle({ room: { title, translation } }: { readonly room: RoomName }): VNode {
  const { locale } = useShell();
  if (translation === undefined) return <>{title}</>;
  return (
    <>
      {title}{' '}
      <span class="translation" lang={locale}>
        {translation}
      </span>
    </>
  );
}
