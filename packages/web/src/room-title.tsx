/** The title of a room as the API gives it, with a translation where a reader may need one. */
import type { VNode } from 'preact';

import type { RoomName } from './page-data.ts';
import { href, useShell } from './shell.ts';

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

/** Nothing for a room that this place does not have. */
export function RoomLink({ slug }: { readonly slug: string | undefined }): VNode | null {
  const shell = useShell();
  const room = shell.rooms.find((one) => one.slug === slug);
  return room === undefined ? null : (
    <a href={href(shell, `/rooms/${room.slug}`)} title={room.translation}>
      {room.title}
    </a>
  );
}
