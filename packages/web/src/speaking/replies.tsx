/** Lets visitors answer entries in place. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { PageEntry } from '../entries/entry-data.ts';
import { ReplyContext } from '../entries/entry-view.tsx';
import { openRoom, pathOf, useShell } from '../shell.ts';
import { isWholeName } from '../visitor-name.tsx';
import { formName } from './form/speak-form-props.ts';
import { LaterForm } from './form/later-form.tsx';
import { formsWithDraft } from './form/draft.ts';

/** Opens the forms of answers that were begun. */
export function Replies({ children }: { readonly children: ComponentChildren }): VNode {
  const page = pathOf(useShell());
  const [drafted, setDrafted] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const names = formsWithDraft(page);
    setDrafted(new Set(names.map((name) => name.slice(formName(GARDEN).length))));
  }, []);
  const replying = useMemo(() => ({ form: Reply, drafted }), [drafted]);
  return <ReplyContext.Provider value={replying}>{children}</ReplyContext.Provider>;
}

const GARDEN = { kind: 'garden' } as const;

function Reply({ entry: { id, room, author } }: { readonly entry: PageEntry }): VNode {
  const element = useRef<HTMLDivElement>(null);
  return (
    <div ref={element}>
      <LaterForm
        kind="garden"
        room={openRoom(useShell(), room)}
        inReplyTo={id}
        onMissing={() => location.assign(`/entries/${id}#take-part`)}
        to={isWholeName(author) ? [author] : undefined}
        onRestored={() => element.current?.querySelector('textarea')?.focus()}
      />
    </div>
  );
}
