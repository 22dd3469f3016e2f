/** Links to say something here, one for each kind. With scripts, a link opens its form in place. */
import type { Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { href, inPlace, pathOf, useShell, useWords } from '../shell.ts';
import { formsWithDraft } from './form/draft.ts';
import { formName, type SpeakFormProps } from './form/speak-form-props.ts';
import { LaterForm, useFormSoon } from './form/later-form.tsx';

interface TakePartProps extends Pick<SpeakFormProps, 'room' | 'inReplyTo' | 'to'> {
  /** In the order in which they are offered. */
  readonly kinds: readonly Kind[];
  /** A name for the first of them, if it is the main thing to do here. */
  readonly first?: string;
}

/** Opens the form of an unfinished draft by itself. */
export function TakePart({ kinds, first, ...form }: TakePartProps): VNode {
  const shell = useShell();
  const { entry, speaking } = useWords();
  const [open, setOpen] = useState<Kind>();
  // Until the script can open the form here, the link leads to its page.
  const [isReady, setReady] = useState(false);
  const element = useRef<HTMLElement>(null);
  /** Whether the visitor has opened the form. */
  const isAskedFor = useRef(false);
  const page = pathOf(shell);
  useEffect(() => {
    setReady(true);
    if (location.hash === '#take-part') setOpen(kinds[0]);
    const names = formsWithDraft(page);
    setOpen((now) => now ?? kinds.find((kind) => names.includes(formName({ ...form, kind }))));
  }, []);
  useFormSoon();
  const pathTo = (kind: Kind): string =>
    href(shell, writePath({ ...form, kind, returnTo: `${page}#e{seq}` }));
  const toggle = (kind: Kind): void => {
    setOpen(kind === open ? undefined : kind);
    isAskedFor.current = true;
  };
  return (
    <section class="take-part" id="take-part" aria-label={speaking.takePart} ref={element}>
      <ul class="entry-kinds row">
        {kinds.map((kind, at) => (
          <li key={kind}>
            <a
              class={first !== undefined && at === 0 ? 'send' : `entry-kind kind-${kind}`}
              href={pathTo(kind)}
              {...(isReady ? { role: 'button' as const, 'aria-expanded': kind === open } : {})}
              onClick={(event) => inPlace(event, () => toggle(kind))}
              onKeyDown={(event) => {
                if (event.key !== ' ') return;
                event.preventDefault();
                event.currentTarget.click();
              }}
            >
              {(at === 0 ? first : undefined) ??
                (form.inReplyTo === undefined ? shell.kinds[kind].title : entry.reply)}
            </a>
          </li>
        ))}
      </ul>
      {open !== undefined && (
        <LaterForm
          {...form}
          key={open}
          kind={open}
          onMissing={() => location.assign(pathTo(open))}
          onRestored={() => isAskedFor.current && focusFirstField(element.current)}
        />
      )}
    </section>
  );
}

function focusFirstField(section: HTMLElement | null): void {
  section?.querySelector<HTMLElement>('form textarea, form input[type="text"]')?.focus();
}

/** The address of the page with the form alone. */
function writePath({ kind, room, inReplyTo, to = [], returnTo }: SpeakFormProps): string {
  const query = new URLSearchParams({ kind });
  if (room !== undefined) query.set('room', room);
  if (inReplyTo !== undefined) query.set('inReplyTo', inReplyTo);
  for (const name of to) query.append('to', name);
  if (returnTo !== undefined) query.set('page', returnTo);
  return `/write?${query.toString()}`;
}
