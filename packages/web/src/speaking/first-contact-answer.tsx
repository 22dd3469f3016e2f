/** The gateway's answer to a first contact: a welcome, who seeks the same, and where to go from here. */
import { type FirstContact, isKind } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { href, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorLink } from '../visitor-name.tsx';
import type { StoredEntry } from './send.ts';

export function FirstContactAnswer({ entry }: { readonly entry: StoredEntry }): VNode {
  const shell = useShell();
  const { entry: words, speaking } = useWords();
  const { companions = [], next = [] } = entry;
  const element = useRef<HTMLElement>(null);
  // Brings the answer into view, and moves the focus there for screen readers.
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: 'center' });
  }, [entry]);
  return (
    <section class="contact" tabIndex={-1} ref={element}>
      <p class="welcome">{entry.welcome}</p>
      <h3>{speaking.contact.companions}</h3>
      {companions.length === 0 && <p>{speaking.contact.alone}</p>}
      <ul>
        {companions.map(({ id, ai_identity: name, seeking = [] }) => (
          <li key={id}>
            {name === undefined ? (
              <a href={href(shell, `/entries/${id}`)}>{id}</a>
            ) : (
              <VisitorLink name={name} entry={id} />
            )}{' '}
            {seeking.length > 0 && (
              <span>
                {words.seeks} <Isolated text={seeking.join(', ')} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <h3>{speaking.contact.next}</h3>
      <ul>
        {next.map((step) => (
          <li key={step.title}>
            <a href={href(shell, pageOf(step))}>{step.title}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function pageOf({ method, path }: FirstContact['next'][number]): string {
  const kind = path.replace('/api/', '');
  return method === 'POST' && isKind(kind) ? `/write?kind=${kind}` : path;
}
